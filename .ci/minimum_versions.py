"""Print the lowest versions that pyproject.toml allows, as constraints for pip."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"]
asked = [*project["dependencies"], *(line for name in extras for line in extras[name])]
for line in sorted(set(asked)):
    match = re.fullmatch(r"([A-Za-z0-9._-]+)>=([0-9.]+)", line)
    if match and match[1] not in ("torch", "jax"):
        print(f"{match[1]}=={match[2]}")  # noqa: T201
print("click==8.1.8")  # noqa: T201 - of the time of the oldest Typer, which newer ones warn of
