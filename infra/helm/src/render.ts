// Renders the chart with given values by helm.

import { spawnSync } from 'node:child_process'
import { parseAllDocuments } from 'yaml'
import { chart } from './generated.ts'

export type Manifest = {
  apiVersion: string
  kind: string
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> }
  // biome-ignore lint/suspicious/noExplicitAny: manifests have as many shapes as Kubernetes has kinds.
  [field: string]: any
}

/** Files with values and `--set` settings, over the chart's defaults. */
export type Values = { files?: readonly string[]; set?: readonly string[]; release?: string }

/** The manifests as text. Throws helm's error. */
export function renderText(helm: string, { files = [], set = [], release = 'dlq-manager' }: Values): string {
  const args = ['template', release, chart, '--namespace', 'dlq', '--kube-version', 'v1.31.0']
  args.push(...files.flatMap((file) => ['--values', file]), ...set.flatMap((setting) => ['--set', setting]))
  const { status, stdout, stderr } = spawnSync(helm, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (status !== 0) throw new Error(stderr.trim() || `helm ended with ${status}`)
  return stdout
}

export function render(helm: string, values: Values): Manifest[] {
  return parseAllDocuments(renderText(helm, values))
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null)
}
