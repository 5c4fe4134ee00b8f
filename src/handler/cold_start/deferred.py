"""Lets pydantic build the validators of the SDKs' models at first use: a question needs few of them."""

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import BaseModel


@contextmanager
def deferred_models() -> Iterator[None]:
    """Give models that are defined inside the block pydantic's `defer_build`; they inherit it from `BaseModel`."""
    before = BaseModel.model_config
    BaseModel.model_config = {**before, "defer_build": True}
    try:
        yield
    finally:
        BaseModel.model_config = before
