"""Files that the pages load: a style sheet, whose name changes with its content, and an icon. And the script within pages."""

import base64
import hashlib
from pathlib import Path

_FOLDER = Path(__file__).parent / "assets"

STYLE = (_FOLDER / "style.css").read_bytes()
STYLE_PATH = f"/assets/style.{hashlib.sha256(STYLE).hexdigest()[:16]}.css"
ICON = (_FOLDER / "favicon.ico").read_bytes()
SCRIPT = (_FOLDER / "page.js").read_text()
"""It stands inside every page, and may run because the policy below names its hash. Pages can be used without it."""

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    f"script-src 'sha256-{base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()}'"
)
