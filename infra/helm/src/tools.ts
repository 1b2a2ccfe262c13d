// Installs the programs that check the chart and the workflows into .dev/tools, once, by their languages' own
// tools. Building helm takes minutes, so `npm test` uses an existing helm and builds none.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../../', import.meta.url))
const tools = join(root, '.dev', 'tools')

const goPrograms = {
  helm: 'helm.sh/helm/v3/cmd/helm@v3.22.0',
  actionlint: 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12',
}

/** Carries Kubernetes' own schemas of many versions. */
const kubernetesValidate = 'kubernetes-validate==1.37.0'

/** Modules with the schemas of the operators' resources, and their paths. */
const resourceModules = [
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    folder: 'example/prometheus-operator-crd',
    files: ['monitoring.coreos.com_servicemonitors.yaml', 'monitoring.coreos.com_prometheusrules.yaml'],
  },
  {
    module: 'github.com/kedacore/keda/v2@v2.21.0',
    folder: 'config/crd/bases',
    files: ['keda.sh_scaledobjects.yaml', 'keda.sh_triggerauthentications.yaml'],
  },
]

export type Tools = { helm: string; actionlint: string; python: string; resources: string }

/** The helm that HELM names, or the one installed here; null where there is none. Not the PATH's: each version words faults differently. */
export function findHelm(): string | null {
  const candidates = [process.env.HELM, join(tools, 'helm')]
  return candidates.find((candidate) => candidate && answers(candidate, ['version', '--short'])) ?? null
}

/** Installs what is missing. The first time takes minutes and needs go and python3. */
export function installTools(): Tools {
  mkdirSync(tools, { recursive: true })
  const helm = findHelm() ?? goInstall('helm')
  const onPath = answers('actionlint', ['-version']) ? 'actionlint' : null
  const actionlint =
    onPath ?? (existsSync(join(tools, 'actionlint')) ? join(tools, 'actionlint') : goInstall('actionlint'))
  return { helm, actionlint, python: installPython(), resources: fetchResources() }
}

function goInstall(name: keyof typeof goPrograms): string {
  console.log(`building ${goPrograms[name]} (once; this takes a while)`)
  execFileSync('go', ['install', goPrograms[name]], { stdio: 'inherit', env: { ...process.env, GOBIN: tools } })
  return join(tools, name)
}

function installPython(): string {
  const venv = join(tools, 'python')
  const python = join(venv, 'bin', 'python')
  const stamp = join(venv, 'installed')
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== kubernetesValidate) {
    execFileSync('python3', ['-m', 'venv', venv], { stdio: 'inherit' })
    execFileSync(python, ['-m', 'pip', 'install', '--quiet', kubernetesValidate], { stdio: 'inherit' })
    writeFileSync(stamp, kubernetesValidate)
  }
  return python
}

/** A folder with the schemas of ServiceMonitor, PrometheusRule, ScaledObject and TriggerAuthentication. */
function fetchResources(): string {
  const folder = join(tools, 'resources')
  mkdirSync(folder, { recursive: true })
  for (const { module, folder: inside, files } of resourceModules) {
    if (files.every((file) => existsSync(join(folder, file)))) continue
    const { Dir } = JSON.parse(execFileSync('go', ['mod', 'download', '-json', module], { encoding: 'utf8' }))
    for (const file of files) writeFileSync(join(folder, file), readFileSync(join(Dir, inside, file)))
  }
  return folder
}

function answers(program: string, args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
