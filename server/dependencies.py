"""What routes ask FastAPI for: the server's services, and who sent the request."""

from typing import Annotated, Any

from fastapi import Depends, Request

from server.http.response_delivery import Disconnected
from server.services import Services, get_services
from server.visitors.clients import Client, identify


async def services(request: Request) -> Services:  # a plain function would run in a thread
    return get_services(request.scope)


ServicesDep = Annotated[Services, Depends(services)]


async def client(request: Request, services: ServicesDep) -> Client:
    return identify(request.scope, services.cookie_key, services.proxies)


ClientDep = Annotated[Client, Depends(client)]


async def disconnected(request: Request) -> Disconnected:
    async def wait() -> None:
        message: Any = {}
        while message.get("type") != "http.disconnect":
            message = await request.receive()

    return wait


DisconnectedDep = Annotated[Disconnected, Depends(disconnected)]
