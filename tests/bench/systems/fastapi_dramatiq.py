"""FastAPI in front of stock Dramatiq: a plain handler that blocks on the result, as FastAPI's threads allow."""

from tests.bench.roles import PATH, become_uvicorn, play
from tests.bench.systems import dramatiq_stock
from tests.bench.systems.fastapi_echo import Echo, new_app, said

app = new_app()


@app.post(PATH)
def echo(request: Echo) -> dict[str, object]:
    """Send the job and wait for it."""
    return said(dramatiq_stock.echo.send(request.message).get_result(block=True))


if __name__ == "__main__":
    play(
        {
            "worker": dramatiq_stock.worker,
            "api": lambda: become_uvicorn("tests.bench.systems.fastapi_dramatiq:app"),
        }
    )
