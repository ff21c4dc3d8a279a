"""Which CI service runs this, told from the variables that it sets."""

from __future__ import annotations

from collections.abc import Mapping

GITHUB, GITLAB, JENKINS, PLAIN = "github", "gitlab", "jenkins", "plain"
PROVIDERS = (GITHUB, GITLAB, JENKINS, PLAIN)
"""The services whose ways are known; `plain` is any other, or none."""


def provider_of(variables: Mapping[str, str]) -> str:
    """Return the one of PROVIDERS whose variables are set; `plain` where none is."""
    if variables.get("GITHUB_ACTIONS") == "true":
        return GITHUB
    if variables.get("GITLAB_CI"):
        return GITLAB
    return JENKINS if variables.get("JENKINS_URL") else PLAIN
