// Freezes a server: sends SIGSTOP to it and to its descendants. Each backend of PostgreSQL leads a session of its
// own and is not in the server's process group, so we find descendants by their parents.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** Stops `pid` and its descendants. The function it returns resumes them; a second call does nothing. */
export function freezeProcess(pid: number): () => void {
  const frozen: number[] = []
  // The parent first: then it cannot start another child while we look for them.
  for (let found = [pid]; found.length > 0; ) {
    for (const each of found) {
      signal(each, 'SIGSTOP')
      frozen.push(each)
    }
    const parents = new Set(frozen)
    found = [...parentsOfAll()]
      .filter(([child, parent]) => parents.has(parent) && !parents.has(child))
      .map(([child]) => child)
  }
  return () => {
    for (const each of frozen.splice(0)) signal(each, 'SIGCONT')
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error // It has ended.
  }
}

/** Every process → its parent. */
function parentsOfAll(): Map<number, number> {
  if (!existsSync('/proc/self/stat')) {
    const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
    return new Map(lines.map((line) => line.trim().split(/\s+/).map(Number) as [number, number]))
  }
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      // "pid (name) state ppid …"; the name may hold spaces and parentheses.
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
    } catch {
      // It has ended meanwhile.
    }
  }
  return parents
}
