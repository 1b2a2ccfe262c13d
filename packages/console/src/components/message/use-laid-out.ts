// JSON on several lines: at once where it is small, by a worker where that would hold up the page.

import { useEffect, useMemo, useState } from 'react'
import { layOut, maxLayoutChars, maxWorkerChars } from '../../domain/payload/value.ts'
import workerUrl from './lay-out-worker.ts?worker&url'

export type LaidOut = { text: string; note: string | null }

type Policies = { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } }

/** The content policy takes the address of a worker from this policy alone; a browser without such policies takes any. */
const { trustedTypes } = globalThis as { trustedTypes?: Policies }
const policy = trustedTypes?.createPolicy('dlq-worker', { createScriptURL: (url: string) => url })

const tooLarge = 'Too large to be laid out: shown as it came.'

/** Null for null. Meanwhile, and where it cannot be laid out, the text is as it came, with a note that says so. */
export function useLaidOut(json: string | null): LaidOut | null {
  const [done, setDone] = useState<{ of: string; text: string } | null>(null)
  const inWorker = json !== null && json.length > maxLayoutChars && json.length <= maxWorkerChars
  const small = useMemo(() => (json === null || inWorker ? null : layOut(json)), [json, inWorker])
  useEffect(() => {
    if (!inWorker) return setDone(null)
    const worker = new Worker(policy?.createScriptURL(workerUrl) ?? workerUrl, { type: 'module' })
    worker.onmessage = ({ data }: MessageEvent<string>) => setDone({ of: json, text: data })
    worker.onerror = () => setDone({ of: json, text: json })
    worker.postMessage(json)
    return () => worker.terminate()
  }, [json, inWorker])
  if (json === null) return null
  if (!inWorker) return { text: small ?? json, note: json.length > maxWorkerChars ? tooLarge : null }
  if (done?.of !== json) return { text: json, note: 'Being laid out …' }
  return { text: done.text, note: done.text === json && !json.includes('\n') ? tooLarge : null }
}
