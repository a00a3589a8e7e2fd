"""What routes ask FastAPI for: the server's services, and who sent the request."""

from typing import Annotated

from fastapi import Depends, Request

from server.clients import identify
from server.pool.fair_queue import Client
from server.services import Services, get_services


async def services(request: Request) -> Services:  # a plain function would run in a thread
    return get_services(request.scope)


ServicesDep = Annotated[Services, Depends(services)]


async def client(request: Request, services: ServicesDep) -> Client:
    return identify(request.scope, services.cookie_key, services.proxies)


ClientDep = Annotated[Client, Depends(client)]
