"""Markdown to HTML that is safe to show: no raw HTML, no images, only web addresses as links."""

from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

from annotate.addresses import safe_href

_MARKDOWN = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
_MARKDOWN.disable(["image", "html_block", "html_inline"])
_MARKDOWN.validateLink = lambda url: safe_href(url) is not None  # type: ignore[method-assign]


def render(text: str) -> SafeString:
    """What a manager wrote, as HTML. Headings start below those of the page it stands in."""
    tokens = _MARKDOWN.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("rel", "noopener noreferrer")
                child.attrSet("target", "_blank")
    html: str = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    return mark_safe(html)  # noqa: S308  # the renderer escapes all text, and html is off
