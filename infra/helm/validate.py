"""Validates manifests (YAML on standard input) against Kubernetes' own schemas, as strictly as the server does.

usage: validate.py FOLDER VERSION...   FOLDER holds CustomResourceDefinitions for what Kubernetes does not know.
"""

import sys
from pathlib import Path

import jsonschema
import kubernetes_validate
import yaml


def load_definitions(folder):
    """(group/version, kind) → schema, with unknown fields forbidden, as `kubectl --validate=strict` has it."""
    schemas = {}
    for file in Path(folder).glob("*.yaml"):
        for crd in filter(None, yaml.safe_load_all(file.read_text())):
            spec = crd["spec"]
            for version in spec["versions"]:
                schema = version["schema"]["openAPIV3Schema"]
                schema["properties"]["metadata"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                close(schema)
                schemas[f"{spec['group']}/{version['name']}", spec["names"]["kind"]] = schema
    return schemas


def close(schema):
    if schema.pop("x-kubernetes-int-or-string", False):
        schema.pop("type", None)
        schema["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    if "(?i)" in schema.get("pattern", ""):
        # Go lets a flag stand anywhere, Python only at the beginning.
        schema["pattern"] = "(?i)" + schema["pattern"].replace("(?i)", "")
    if "properties" in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
        schema.setdefault("additionalProperties", False)
    for child in list(schema.get("properties", {}).values()) + [schema.get("items"), schema.get("additionalProperties")]:
        if isinstance(child, dict):
            close(child)


def main(folder, versions):
    definitions = load_definitions(folder)
    count, faults = 0, 0
    for manifest in filter(None, yaml.safe_load_all(sys.stdin)):
        count += 1
        what = f"{manifest.get('kind')} {manifest.get('metadata', {}).get('name')}"
        custom = definitions.get((manifest.get("apiVersion"), manifest.get("kind")))
        for version in [None] if custom else versions:
            try:
                if custom:
                    jsonschema.validate(manifest, custom)
                else:
                    kubernetes_validate.validate(manifest, version, strict=True)
            except (jsonschema.ValidationError, kubernetes_validate.ValidationError) as fault:
                faults += 1
                where = ".".join(map(str, fault.path))
                print(f"{what} (Kubernetes {version or 'extension'}): {where}: {fault.message}")
            except Exception as fault:
                faults += 1
                print(f"{what}: {type(fault).__name__}: {fault}")
    print(count)
    return 1 if faults or count == 0 else 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
