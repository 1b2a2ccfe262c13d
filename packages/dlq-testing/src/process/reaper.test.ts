// The parents are separate processes, so that the tests can kill them.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'

const patienceMs = 45_000
const reaperUrl = new URL('./reaper.ts', import.meta.url).href

/** A separate process that runs `code` with a reaper. Resolves with the pids that it prints. */
async function startParent(code: string): Promise<{ parent: ChildProcess; pids: number[] }> {
  const source = `
    import { spawn } from 'node:child_process'
    const { createReaper } = await import(${JSON.stringify(reaperUrl)})
    const reaper = createReaper()
    const start = (...command) => {
      const child = spawn(command[0], command.slice(1), { detached: true, stdio: 'ignore' })
      reaper.watch(child.pid)
      return child
    }
    ${code}`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: parent.stdout! })
  const [line] = (await once(lines, 'line')) as [string]
  return { parent, pids: JSON.parse(line) }
}

/** A zombie counts as ended. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return process.platform !== 'linux'
  }
}

async function untilEnded(pids: number[]): Promise<number[]> {
  const deadline = Date.now() + patienceMs
  while (pids.some(isRunning) && Date.now() < deadline) await sleep(20)
  return pids.filter(isRunning)
}

test('a parent killed by SIGKILL leaves no child running', async () => {
  const { parent, pids } = await startParent(`
    const children = [start('sleep', '300'), start('sleep', '300')]
    console.log(JSON.stringify(children.map((child) => child.pid)))`)
  expect(pids.map(isRunning)).toEqual([true, true])

  parent.kill('SIGKILL')

  expect(await untilEnded(pids)).toEqual([])
})

test('a child that ignores SIGINT is killed by SIGKILL', async () => {
  const { parent, pids } = await startParent(`
    const child = start('/bin/sh', '-c', 'trap "" INT; while :; do sleep 1; done')
    setTimeout(() => console.log(JSON.stringify([child.pid])), 300)`)

  parent.kill('SIGKILL')

  expect(await untilEnded(pids)).toEqual([])
})

test('a process that was forgotten is left alone', async () => {
  const { parent, pids } = await startParent(`
    const [forgotten, watched] = [start('sleep', '300'), start('sleep', '300')]
    reaper.forget(forgotten.pid)
    console.log(JSON.stringify([forgotten.pid, watched.pid]))`)
  const [forgotten = 0, watched = 0] = pids

  parent.kill('SIGKILL')

  expect(await untilEnded([watched])).toEqual([])
  expect(isRunning(forgotten)).toBe(true)
  process.kill(forgotten, 'SIGKILL')
})

test('a clean close leaves the children to their parent and lets the parent end', async () => {
  const { parent, pids } = await startParent(`
    const child = start('sleep', '300')
    child.unref()
    await reaper.close()
    console.log(JSON.stringify([child.pid]))`)
  const [child = 0] = pids

  const [code] = parent.exitCode === null ? await once(parent, 'exit') : [parent.exitCode]

  expect(code).toBe(0)
  expect(isRunning(child)).toBe(true)
  process.kill(child, 'SIGKILL')
})
