// PostgreSQL refuses to run as root. So root runs it as `postgres`, else `nobody`. The
// clone may lie in a directory only root can enter, hence the one capability it keeps,
// CAP_DAC_OVERRIDE; and access(2), which initdb asks, honours that capability for a user
// other than root only with the securebit no_setuid_fixup (credentials(7), capabilities(7)).
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Words to put before a command, and the owner its files need; no owner when we are not root. */
export type ServerUser = { prefix: string[]; ids?: { uid: number; gid: number } }

/**
 * Decides as whom to run `program`. Throws, saying what is missing, when we are root and
 * there is no way to run it as somebody else.
 */
export async function chooseServerUser(program: string): Promise<ServerUser> {
  if (process.platform === 'win32' || process.getuid?.() !== 0) return { prefix: [] }
  const ids = unprivilegedIds()
  const plain = ['setpriv', `--reuid=${ids.uid}`, `--regid=${ids.gid}`, '--clear-groups']
  const withAccess = [
    ...plain,
    '--securebits=+no_setuid_fixup',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
  ]
  const failures: string[] = []
  // Where capabilities cannot be passed on, the plain change of user does if the path is open to all.
  for (const prefix of [withAccess, plain]) {
    const failure = await tryRun([...prefix, '/bin/sh', '-c', 'test -x "$0"', program])
    if (failure === undefined) return { prefix, ids }
    failures.push(failure)
  }
  throw new Error(
    `PostgreSQL refuses to run as root, and running it as uid ${ids.uid} with setpriv (package util-linux) failed: ` +
      `${failures.join('; ')}. Run as an ordinary user, or set DATABASE_URL.`,
  )
}

async function tryRun([program = '', ...args]: string[]): Promise<string | undefined> {
  try {
    await run(program, args, { timeout: 10_000 })
    return undefined
  } catch (error) {
    const { code, stderr } = error as { code?: string | number; stderr?: string }
    if (code === 'ENOENT') return 'setpriv is not installed'
    return stderr?.trim() || `the programs cannot be reached (exit ${code})`
  }
}

function unprivilegedIds(): { uid: number; gid: number } {
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody')
  if (!user) throw new Error('PostgreSQL refuses to run as root, and there is neither a user postgres nor nobody')
  return { uid: Number(user[2]), gid: Number(user[3]) }
}
