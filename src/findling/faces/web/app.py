"""The page's addresses, and what stands between them and the network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from findling.faces.http.guard import AddressGuard, App
from findling.faces.web.pages import Pages
from findling.faces.web.visitors import Visitors, refuse_address

if TYPE_CHECKING:
    from findling.faces.http.options import HttpOptions
    from findling.faces.web.asking import Asker


class _AnyPath(PathConvertor):
    """The rest of an address, line feeds included: files may have them in their names."""

    regex = r"[\s\S]*"


register_url_convertor("any_path", _AnyPath())


def make_app(asker: Asker, options: HttpOptions, *, token: str, name: str) -> App:
    """The page of the folder called ``name``, behind its guards: the address, then the visitor."""
    pages = Pages(asker, name)
    routes = [
        Route("/", pages.search),
        Route("/file/{path:any_path}", pages.file),
        Route("/symbol", pages.symbol),
        Route("/similar", pages.similar),
        Route("/grep", pages.grep),
        Route("/library", pages.library),
        Route("/library/file", pages.library_file),
        Route("/index", pages.index),
        Route("/index/update", pages.update, methods=["POST"]),
        Route("/index/stop", pages.stop, methods=["POST"]),
        Route("/progress", pages.progress),
        Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")),
    ]
    app = Starlette(routes=routes, exception_handlers=pages.failures)
    return AddressGuard(Visitors(app, token), options, refuse_address)
