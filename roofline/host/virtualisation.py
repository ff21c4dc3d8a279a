"""What stands between the process and the hardware."""

from __future__ import annotations

from roofline.host.tree import Tree

_DMI = (
    # (in vendor or product name, name)
    ("vmware", "vmware"),
    ("virtualbox", "virtualbox"),
    ("innotek", "virtualbox"),
    ("parallels", "parallels"),
    ("hvm domu", "xen"),
    ("xen", "xen"),
    ("qemu", "kvm"),
    ("kvm", "kvm"),
    ("standard pc", "kvm"),
    ("google compute engine", "kvm"),
    ("amazon ec2", "kvm"),
)
_CLOCKS = (("kvm", "kvm"), ("hyperv", "hyperv"), ("xen", "xen"))
_CGROUPS = (("libpod", "podman"), ("docker", "docker"), ("kubepods", "kubernetes"), ("lxc", "lxc"))


def read_virtualisation(tree: Tree, flags: frozenset[str]) -> str | None:
    """Name the hypervisor, else the container, else `none`; None when nothing tells.

    A guest inside of which a container runs is a guest: the hypervisor changes what is measured, a container only
    what may be used. `flags` are those of /proc/cpuinfo. `none` needs evidence: an x86 CPU without the `hypervisor`
    flag, or firmware that names a machine no hypervisor is known by.
    """
    vendor = (tree.word("sys/class/dmi/id/sys_vendor") or "").lower()
    product = (tree.word("sys/class/dmi/id/product_name") or "").lower()
    hypervisor = _hypervisor(tree, vendor, product, "hypervisor" in flags)
    if hypervisor is not None:
        return hypervisor
    return _container(tree) or ("none" if flags & {"lm", "fpu"} or (vendor and product) else None)


def _hypervisor(tree: Tree, vendor: str, product: str, flagged: bool) -> str | None:
    if "FIRECK" in (tree.text("sys/firmware/acpi/tables/FACP") or ""):
        return "firecracker"
    if vendor == "microsoft corporation" and product == "virtual machine":
        return "hyperv"
    if not product.endswith(".metal"):  # Amazon's bare machines carry the same vendor
        for mark, name in _DMI:
            if mark in vendor or mark in product:
                return name
    if tree.word("sys/hypervisor/type") == "xen" and "control_d" not in (tree.word("proc/xen/capabilities") or ""):
        return "xen"
    if not flagged:
        return None
    clocks = tree.word("sys/devices/system/clocksource/clocksource0/available_clocksource") or ""
    return next((name for mark, name in _CLOCKS if mark in clocks), "vm")


def _container(tree: Tree) -> str | None:
    if tree.exists("run/.containerenv"):
        return "podman"
    if tree.exists(".dockerenv"):
        return "docker"
    if told := tree.word("run/systemd/container"):
        return told
    groups = tree.text("proc/1/cgroup") or ""
    return next((name for mark, name in _CGROUPS if mark in groups), None)
