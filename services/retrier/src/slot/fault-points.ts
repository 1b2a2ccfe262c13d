// Places at which a test kills a retrier, because a random kill hardly ever hits these moments. Without NODE_ENV=test
// nothing here has any effect.

export const faultPoints = ['between-send-and-commit', 'between-commit-and-settle'] as const
export type FaultPoint = (typeof faultPoints)[number]

/** Ends the process by SIGKILL where the environment says so; does nothing otherwise. */
export type PassFaultPoint = (point: FaultPoint) => void

/**
 * Reads TEST_FAULT_POINT: a point's name, then "@" and how many times it is passed unharmed, such as
 * "between-send-and-commit@3".
 */
export function createFaultPoints(env: Readonly<Record<string, string | undefined>>): PassFaultPoint {
  const [name, passes = '0'] = (env.TEST_FAULT_POINT ?? '').split('@')
  if (env.NODE_ENV !== 'test' || !faultPoints.some((point) => point === name)) return () => {}
  let left = Number(passes)
  return (point) => {
    if (point !== name) return
    if (left-- > 0) return
    process.kill(process.pid, 'SIGKILL')
  }
}
