// Talking to the server: one form at a time, answered with what was done and the next pair.

const PATIENCE = 20000;

function csrfToken() {
  // The cookie is fresher than the page: signing in again in another tab changes it.
  const cookie = document.cookie.split("; ").find((part) => part.startsWith("csrftoken="));
  return cookie?.slice("csrftoken=".length) ?? document.querySelector("[name=csrfmiddlewaretoken]").value;
}

async function ask(url, options) {
  const response = await fetch(url, {
    ...options,
    headers: { Accept: "application/json", ...options.headers },
    credentials: "same-origin",
    redirect: "manual",
    signal: AbortSignal.timeout(PATIENCE),
  });
  if (response.type === "opaqueredirect") return { kind: "later", why: "signed_out" };
  if (response.status === 403) return { kind: "later", why: "forbidden" };
  if (response.status >= 500) return { kind: "later", why: "offline" };
  const answer = await response.json();
  return { kind: response.ok ? "done" : "refused", answer };
}

// Resolves always; what cannot be sent now is to be sent later.
export async function post(url, fields) {
  try {
    return await ask(url, {
      method: "POST",
      body: new URLSearchParams(fields),
      headers: { "X-CSRFToken": csrfToken() },
    });
  } catch {
    return { kind: "later", why: "offline" };
  }
}

export async function get(url) {
  try {
    return await ask(url, { method: "GET", headers: {} });
  } catch {
    return { kind: "later", why: "offline" };
  }
}
