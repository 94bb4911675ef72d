"""Files for containers, services, conda and releases: their commands are those of the command line, and they agree."""

import configparser
import re
import shlex
import tomllib

import click
import pytest
import yaml

import fedsieve
from documented_commands import FENCE, ROOT
from test_documented_commands import complaint

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
UNITS = sorted((ROOT / "deploy" / "systemd").iterdir())
GUIDE = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")


def test_services_of_the_trial_are_a_server_its_proxy_and_three_sites():
    assert list(COMPOSE["services"]) == ["server", "proxy", "siteA", "siteB", "siteC"]
    assert COMPOSE["services"]["proxy"]["network_mode"] == "service:server"  # the engine stays on loopback
    assert not any("ports" in service for service in COMPOSE["services"].values())


@pytest.mark.parametrize("name", ["server", "siteA", "siteB", "siteC"])
def test_a_service_s_command_is_one_of_ours_on_what_it_mounts(name):
    service = COMPOSE["services"][name]
    words = ["fedsieve", *shlex.split(service["command"])]
    assert complaint(words, whole=True) is None
    mounted = [volume.split(":")[1] for volume in service["volumes"]]
    assert [word for word in words if word.startswith("/")] == mounted
    for volume in service["volumes"]:
        source = volume.split(":")[0].removeprefix("./")
        assert re.search(rf"(?<!/){source}(?=[\s`])", GUIDE), f"the guide does not make {source}"


def test_the_image_starts_our_command_from_the_wheel_as_nobody_special():
    assert 'ENTRYPOINT ["fedsieve"]' in DOCKERFILE
    assert "dist/*.whl" in DOCKERFILE
    (extras,) = re.findall(r"\$\{wheel\}\[([\w,]+)\]", DOCKERFILE)
    assert set(extras.split(",")) <= PROJECT["optional-dependencies"].keys()
    (user,) = re.findall(r"^USER (\d+)$", DOCKERFILE, re.MULTILINE)
    assert int(user) > 0
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    assert ignored == ["*", "!constraints.txt", "!dist/*.whl"]  # no rows and no keys of trial/ in an image


def test_the_trial_s_proxy_is_that_of_the_guide():
    (guide,) = [code for language, code in FENCE.findall(GUIDE) if language == "nginx"]
    address = COMPOSE["services"]["server"]["networks"]["trial"]["ipv4_address"]
    here = guide.replace("192.0.2.10", address).replace("fed.example.org", "fed")
    conf = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    assert conf.partition("\n")[2] == here
    mounted = [volume.split(":")[1] for volume in COMPOSE["services"]["proxy"]["volumes"]]
    assert set(re.findall(r"/etc/nginx/fedsieve/[\w.]+", conf)) <= set(mounted)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_is_that_of_the_guide_and_starts_a_command_of_ours(unit):
    text = unit.read_text(encoding="utf-8")
    assert text in [code for language, code in FENCE.findall(GUIDE) if language == "ini"]
    parser = configparser.ConfigParser(comment_prefixes="#", interpolation=None)
    parser.read_string(text)
    words = shlex.split(parser["Service"]["ExecStart"])
    assert complaint(["fedsieve", *words[1:]], whole=True) is None
    assert parser["Service"]["KillMode"] == "mixed"


def test_both_parties_have_a_unit():
    assert [unit.name for unit in UNITS] == ["fedsieve-join.service", "fedsieve-serve.service"]


def test_the_conda_recipe_agrees_with_the_project():
    recipe = yaml.safe_load((ROOT / "conda" / "meta.yaml").read_text(encoding="utf-8"))
    assert recipe["package"] == {"name": PROJECT["name"], "version": fedsieve.__version__}
    python = f"python {PROJECT['requires-python']}"
    wanted = {python, *(re.sub(r"(>=)", r" \1", name) for name in PROJECT["dependencies"])}
    assert set(recipe["requirements"]["run"]) == wanted
    assert recipe["about"]["summary"] == PROJECT["description"]
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["build"]["entry_points"] == [f"{name} = {target}" for name, target in PROJECT["scripts"].items()]
    for command in recipe["test"]["commands"]:
        assert complaint(shlex.split(command), whole=True) is None


def test_the_package_alone_has_a_command_line():
    names = {re.split(r"[<>=]", name)[0] for name in PROJECT["dependencies"]}
    assert {"typer", "rich"} <= names
    assert PROJECT["optional-dependencies"]["cli"] == []  # the old word


def test_workflows_call_targets_that_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for file in (ROOT / ".github" / "workflows").iterdir():
        text = file.read_text(encoding="utf-8")
        yaml.safe_load(text)
        for target in re.findall(r"run: make ([\w-]+)", text):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_long_tests_that_skip_without_scipys_switch_run_with_it():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (recipe,) = re.findall(r"^test-all:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    others, switched = (line for line in recipe.splitlines() if "pytest" in line)
    assert others.endswith("-m full -k 'not array_api_input'")
    assert switched.startswith("\tSCIPY_ARRAY_API=1 ")
    assert "-m full -k array_api_input tests/rivals tests/selectors" in switched


def test_the_wheel_is_tried_on_all_supported_versions():
    wheel = (ROOT / "tools" / "wheel.py").read_text(encoding="utf-8")
    (tried,) = re.findall(r"^VERSIONS = \((.*)\)$", wheel, re.MULTILINE)
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))
    assert workflow["jobs"]["wheel"]["strategy"]["matrix"]["python"] == [word.strip(' "') for word in tried.split(",")]


def test_a_wrong_command_would_be_noticed():
    assert isinstance(complaint(["fedsieve", "federation", "serve", "fed", "--labelled", "x"], whole=True), str)
    assert issubclass(click.UsageError, Exception)
