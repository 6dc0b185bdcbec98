"""What a page may load and where it may lead: the content security policy."""

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "object-src 'none'",
    ]
)

#: For the judging page of a campaign that shows live pages, and for no other page.
WITH_LIVE_PAGES = f"{POLICY}; frame-src http: https:"
