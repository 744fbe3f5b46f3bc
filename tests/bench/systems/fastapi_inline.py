"""FastAPI and uvicorn answering at once: no queue, no worker, nothing survives a crash."""

from tests.bench.roles import PATH, become_uvicorn, play
from tests.bench.systems.fastapi_echo import Echo, new_app, said

app = new_app()


@app.post(PATH)
async def echo(request: Echo) -> dict[str, object]:
    """Say it back."""
    return said(request.message)


if __name__ == "__main__":
    play({"api": lambda: become_uvicorn("tests.bench.systems.fastapi_inline:app")})
