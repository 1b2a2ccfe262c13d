// Reads topics with librdkafka, where kcat is installed: a second implementation of a read-committed consumer.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The values of a topic in no particular order; null where kcat is not installed. */
export async function readWithKcat(brokers: readonly string[], topic: string): Promise<string[] | null> {
  try {
    const args = ['-b', brokers.join(), '-C', '-t', topic, '-o', 'beginning', '-e', '-q', '-f', '%s\n']
    const { stdout } = await run('kcat', [...args, '-X', 'isolation.level=read_committed'], {
      maxBuffer: 512 * 1024 * 1024,
      timeout: 120_000,
    })
    return stdout.split('\n').filter((line) => line !== '')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
