"""What the guard changes in rq-dashboard's pages: no buttons, no columns that are always 0, no line that leaves the screen, and
times of day as the log has them."""

_INLINE = b'<script type="text/javascript">'
_BUTTONS = (
    "#requeue-job-btn,#delete-job-btn,#empty-btn,#compact-btn,#requeue-all-btn,#rq-instances-row,.actions,"
    "[data-role=requeue-job-btn],[data-role=delete-job-btn],#jobs th:nth-child(3){display:none!important}"
)
_UNUSED = (
    "#queues :is(th,td):is(:nth-child(3),:nth-child(4),:nth-child(8)),"
    "#select-registry option:is(:nth-child(2),:nth-child(3),:nth-child(7)){display:none}"
)
"""RQ's deferred, scheduled and canceled jobs: there are none here."""
_NARROW = (
    "h1,h2,#jobs td,#workers td,#job-data *{overflow-wrap:anywhere}.exc_info{white-space:pre-wrap}"
    "#jobs{table-layout:fixed}#jobs th:nth-child(2){width:25%}#jobs .description{white-space:normal}"
    "p.fixed.intro{height:auto}"
    "@media(max-width:600px){.section{padding:1em}.table td,.table th{padding:.4em}"
    "#job-data>.col-6{flex:0 0 100%;max-width:100%}}"
)
"""Long ids and names are broken, and tables are as wide as the screen."""
_STYLE = f"<style>{_BUTTONS}{_UNUSED}{_NARROW}</style></head>".encode()
_TIMES = b"""
const relative = toRelative
toRelative = given => Date.create(given).format("{yyyy}-{MM}-{dd} {HH}:{mm}:{ss}Z") + ", " + relative(given)
toShort = given => Date.create(given).rewind({minutes: new Date().getTimezoneOffset()}).toTimeString()
"""
"""In place of the page's own, which show the day and "4 minutes ago". Its library takes a time in UTC for a local one, so what
it formats is UTC. `toShort` follows that in the job's page: the same time, by the clock of the browser."""


def changed(page: bytes, nonce: str) -> bytes:
    """The page, with its scripts allowed by the nonce.

    No text of a caller gets the nonce: all of it is escaped, so none can bring an element.
    """
    script = b'<script nonce="%b">' % nonce.encode()
    page = page.replace(_INLINE, script).replace(b"&nbsp;jobs</th>", b"</th>").replace(b"</head>", _STYLE, 1)
    return page.replace(b"</body>", script + _TIMES + b"</script></body>", 1)
