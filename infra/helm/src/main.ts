// `npm run chart`: checks everything about the chart and the workflows that needs no cluster. --package FOLDER packs
// the chart afterwards. --write only updates the chart's copies of other files.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { chart, staleFiles, writeGeneratedFiles } from './generated.ts'
import { renderText } from './render.ts'
import { installTools, root, type Tools } from './tools.ts'

/** The oldest version that the chart accepts, one in wide use, and the newest with a schema. */
const kubernetesVersions = ['1.28.3', '1.33.1', '1.37.0']

process.exitCode = main()

function main(): number {
  const { values: options } = parseArgs({ options: { write: { type: 'boolean' }, package: { type: 'string' } } })
  if (options.write) {
    writeGeneratedFiles()
    return 0
  }
  const tools = installTools()
  const faults = [
    ...checkGenerated(),
    ...lint(tools),
    ...checkValueSets(tools),
    ...checkWorkflows(tools),
    ...runTests(tools),
  ]
  if (options.package && faults.length === 0) {
    mkdirSync(options.package, { recursive: true })
    execFileSync(tools.helm, ['package', chart, '--destination', options.package], { stdio: 'inherit' })
  }
  for (const fault of faults) console.error(fault)
  console.log(faults.length === 0 ? 'the chart is good' : `${faults.length} faults`)
  return faults.length === 0 ? 0 : 1
}

function checkGenerated(): string[] {
  return staleFiles().map((file) => `${relative(root, file)} is not up to date: npm run chart -- --write`)
}

function lint({ helm }: Tools): string[] {
  return valueFiles().flatMap((file) => {
    const { status, stdout, stderr } = spawnSync(helm, ['lint', '--strict', chart, '--values', file], {
      encoding: 'utf8',
    })
    return status === 0 ? [] : [`helm lint --strict with ${relative(root, file)}:\n${stdout}${stderr}`]
  })
}

/** Renders each set of values and validates every manifest of it against each version of Kubernetes. */
function checkValueSets({ helm, python, resources }: Tools): string[] {
  const folder = join(root, '.dev', 'chart')
  mkdirSync(folder, { recursive: true })
  return valueFiles().flatMap((file) => {
    const name = relative(join(root, 'infra/helm/values'), file)
    const input = renderText(helm, { files: [file] })
    writeFileSync(join(folder, name), input)
    const script = join(root, 'infra/helm/validate.py')
    const { status, stdout, stderr } = spawnSync(python, [script, resources, ...kubernetesVersions], {
      input,
      encoding: 'utf8',
    })
    const lines = stdout.trim().split('\n')
    if (status !== 0) return [`${name}:\n${stdout}${stderr}`]
    console.log(`${name}: ${lines.at(-1)} manifests, valid for Kubernetes ${kubernetesVersions.join(', ')}`)
    return []
  })
}

function checkWorkflows({ actionlint }: Tools): string[] {
  const { status, stdout, stderr } = spawnSync(actionlint, { cwd: root, encoding: 'utf8' })
  return status === 0 ? [] : [`actionlint:\n${stdout}${stderr}`]
}

function runTests({ helm }: Tools): string[] {
  const vitest = join(root, 'node_modules/.bin/vitest')
  const { status } = spawnSync(vitest, ['run', 'infra/helm'], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, HELM: helm },
  })
  return status === 0 ? [] : ['the tests of the templates fail']
}

function valueFiles(): string[] {
  const folder = join(root, 'infra/helm/values')
  return readdirSync(folder).map((name) => join(folder, name))
}
