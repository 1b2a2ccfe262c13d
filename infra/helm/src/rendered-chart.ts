// Shared by the tests of the chart: the templates, rendered by helm itself, once per set of values. Where there is no helm
// these tests are left out: `npm run chart` builds one.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe } from 'vitest'
import { type Manifest, render, renderText, type Values } from './render.ts'
import { findHelm, root } from './tools.ts'

const helm = findHelm()
if (!helm) console.log('no helm here, so the templates are not tested: `npm run chart` builds one and tests them')

export const describeChart = describe.skipIf(!helm)

export const valueSets = readdirSync(join(root, 'infra/helm/values')).map((name) => name.replace('.yaml', ''))

const renderedBefore = new Map<string, Manifest[]>()

/** The manifests of a set of values of infra/helm/values. */
export function rendered(name: string, set: string[] = []): Manifest[] {
  const key = [name, ...set].join()
  const manifests = renderedBefore.get(key) ?? render(helm!, { files: [valueFile(name)], set })
  renderedBefore.set(key, manifests)
  return manifests
}

export function valueFile(name: string): string {
  return join(root, 'infra/helm/values', `${name}.yaml`)
}

export function find(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name)
  if (!found)
    throw new Error(`no ${kind} ${name} among ${manifests.map((each) => `${each.kind} ${each.metadata.name}`)}`)
  return found
}

export function names(manifests: readonly Manifest[], kind: string): string[] {
  return manifests.filter((manifest) => manifest.kind === kind).map(({ metadata }) => metadata.name)
}

export function container(manifest: Manifest) {
  const template = manifest.kind === 'CronJob' ? manifest.spec.jobTemplate.spec.template : manifest.spec.template
  return template.spec.containers[0]
}

export function envOf(manifest: Manifest): Record<string, string> {
  return Object.fromEntries(container(manifest).env.map(({ name, value }: Record<string, string>) => [name, value]))
}

export function configOf(manifests: readonly Manifest[], name = 'dlq-manager'): string {
  return find(manifests, 'ConfigMap', name).data['config.yaml']
}

/** What helm says about values that it refuses. */
export function refusal(values: Values): string {
  try {
    renderText(helm!, values)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('helm accepted these values')
}

/** The manifests of the chart's own values, made anew. */
export function renderedAgain(): Manifest[] {
  return render(helm!, {})
}
