#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a container image as a docker archive, without a container tool and byte for byte reproducible.

docker_archive.py OUT.tar NAME:TAG [--layer ROOTFS.tar]... [--add SOURCE:DESTINATION[:MODE]]... [options]

Every --layer is an uncompressed tar and becomes a layer; all --add (files or folders, owned by root) make one more on
top. --mkdir PATH[:MODE] adds an empty folder to that layer, --link TARGET:NAME a symbolic link.
"""
import argparse
import hashlib
import io
import json
import os
import tarfile


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("name")
    parser.add_argument("--layer", action="append", default=[])
    parser.add_argument("--add", action="append", default=[])
    parser.add_argument("--mkdir", action="append", default=[])
    parser.add_argument("--link", action="append", default=[])
    parser.add_argument("--env", action="append", default=[])
    parser.add_argument("--label", action="append", default=[])
    parser.add_argument("--user", default="")
    parser.add_argument("--workdir", default="/")
    parser.add_argument("--entrypoint", type=json.loads, default=None)
    parser.add_argument("--cmd", type=json.loads, default=None)
    return parser.parse_args()


class LayerWriter:
    """A tar whose entries belong to root and have no date."""

    def __init__(self, path):
        self.tar = tarfile.open(path, "w", format=tarfile.GNU_FORMAT)
        self.folders = set()

    def _add(self, name, kind, mode, content=None, size=0, target=""):
        entry = tarfile.TarInfo(name)
        entry.type, entry.mode, entry.size, entry.linkname = kind, mode, size, target
        self.tar.addfile(entry, content)

    def folder(self, name, mode=0o755):
        name = name.strip("/")
        if name in self.folders or not name:
            return
        self.folder(os.path.dirname(name))
        self.folders.add(name)
        self._add(name, tarfile.DIRTYPE, mode)

    def link(self, target, name):
        self.folder(os.path.dirname(name.strip("/")))
        self._add(name.strip("/"), tarfile.SYMTYPE, 0o777, target=target)

    def file(self, source, name, mode=None):
        name = name.strip("/")
        self.folder(os.path.dirname(name))
        if os.path.islink(source) and mode is None:
            self.link(os.readlink(source), name)
        elif os.path.isdir(source):
            self.folder(name)
            for child in sorted(os.listdir(source)):
                self.file(os.path.join(source, child), f"{name}/{child}", mode)
        else:
            info = os.stat(source)
            mode = (0o755 if info.st_mode & 0o100 else 0o644) if mode is None else mode
            with open(source, "rb") as content:
                self._add(name, tarfile.REGTYPE, mode, content, info.st_size)


def write_top_layer(arguments, path):
    layer = LayerWriter(path)
    for folder in arguments.mkdir:
        name, _, mode = folder.partition(":")
        layer.folder(name, int(mode or "755", 8))
    for item in arguments.add:
        source, destination, *mode = item.split(":")
        layer.file(source, destination, int(mode[0], 8) if mode else None)
    for item in arguments.link:
        target, name = item.split(":")
        layer.link(target, name)
    layer.tar.close()


def digest_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as content:
        while block := content.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def main():
    arguments = parse_arguments()
    layers, top = list(arguments.layer), arguments.out + ".layer"
    if arguments.add or arguments.mkdir or arguments.link:
        write_top_layer(arguments, top)
        layers.append(top)
    digests = [digest_of(layer) for layer in layers]
    config = json.dumps({
        "architecture": "amd64", "os": "linux", "created": "1970-01-01T00:00:00Z",
        "config": {"Env": arguments.env, "User": arguments.user, "WorkingDir": arguments.workdir,
                   "Entrypoint": arguments.entrypoint, "Cmd": arguments.cmd,
                   "Labels": dict(label.split("=", 1) for label in arguments.label)},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + digest for digest in digests]},
        "history": [{"created": "1970-01-01T00:00:00Z"} for _ in digests]}).encode()
    config_name = hashlib.sha256(config).hexdigest() + ".json"
    manifest = json.dumps([{"Config": config_name, "RepoTags": [arguments.name],
                            "Layers": [digest + "/layer.tar" for digest in digests]}]).encode()
    with tarfile.open(arguments.out + ".new", "w", format=tarfile.GNU_FORMAT) as archive:
        for name, content in (("manifest.json", manifest), (config_name, config)):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
        for layer, digest in zip(layers, digests):
            entry = tarfile.TarInfo(digest + "/layer.tar")
            entry.size = os.path.getsize(layer)
            with open(layer, "rb") as content:
                archive.addfile(entry, content)
    os.replace(arguments.out + ".new", arguments.out)
    if top in layers:
        os.unlink(top)


if __name__ == "__main__":
    main()
