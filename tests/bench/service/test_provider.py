from __future__ import annotations

import pytest

from bench.service.provider import provider_of


@pytest.mark.parametrize(
    ("variables", "provider"),
    [
        ({"GITHUB_ACTIONS": "true", "CI": "true"}, "github"),
        ({"GITLAB_CI": "true", "CI": "true"}, "gitlab"),
        ({"JENKINS_URL": "https://ci.example.org/"}, "jenkins"),
        ({"CI": "true"}, "plain"),
        ({}, "plain"),
        ({"GITHUB_ACTIONS": "false", "GITLAB_CI": "", "JENKINS_URL": ""}, "plain"),
        ({"GITHUB_ACTIONS": "true", "JENKINS_URL": "https://ci.example.org/"}, "github"),
    ],
)
def test_a_service_is_told_from_its_variables(variables: dict[str, str], provider: str) -> None:
    assert provider_of(variables) == provider
