"""A server in a thread, for clients that are not asynchronous, or run in a loop of their own."""

import socket
import threading

import uvicorn


class HttpServer:
    """Serves an app over HTTP on a free port of loopback, in a thread."""

    def __init__(self, app):
        # listening before the thread starts: the first connection waits in the backlog, nobody polls
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        config = uvicorn.Config(app, log_level="warning", ws="none", loop="asyncio", lifespan="on")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]})

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
