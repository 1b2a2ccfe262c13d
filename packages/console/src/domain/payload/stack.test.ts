import { expect, test } from 'vitest'
import { firstRuns, frameRuns, shortFrame, stackSections } from './stack.ts'

test('the root cause of a Java trace comes first, and its own frames stand out', () => {
  const trace = `org.springframework.ListenerFailed: failed
\tat org.springframework.kafka.Container.run(Container.java:10)
Caused by: com.acme.Refused: no money
\tat com.acme.Payments.take(Payments.java:22)
\tat java.base/java.lang.Thread.run(Thread.java:840)
\t... 12 more`
  const [root, outer] = stackSections(trace)
  expect(root!.title).toBe('Caused by: com.acme.Refused: no money')
  expect(root!.frames.map(({ own }) => own)).toEqual([true, false, false])
  expect(outer!.frames.map(({ own }) => own)).toEqual([false])
})

test('frames of Node, Python, Go and .NET are told apart from their libraries', () => {
  const own = (line: string) => stackSections(`Error: no\n${line}`)[0]!.frames[0]?.own
  expect(own('    at takePayment (file:///srv/demo/take-payment.ts:24:31)')).toBe(true)
  expect(own('    at handler (/srv/node_modules/kafkajs/src/runner.js:58:30)')).toBe(false)
  expect(own('    at process.processTicksAndRejections (node:internal/process/task_queues:104:5)')).toBe(false)
  expect(own('  File "/srv/app/pay.py", line 3, in take')).toBe(true)
  expect(own('  File "/usr/lib/python3.12/json/decoder.py", line 3, in decode')).toBe(false)
  expect(own('   at Acme.Payments.Take(Order order) in /src/Payments.cs:line 22')).toBe(true)
})

test('frames stand in runs, and a long path keeps its last two parts', () => {
  const frames = [true, false, false, true].map((own, at) => ({ text: `at f${at}`, own }))
  expect(frameRuns(frames).map((run) => run.frames.length)).toEqual([1, 2, 1])
  expect(shortFrame('at takePayment (file:///srv/x/demo/take-payment.ts:24:31)')).toBe(
    'takePayment (demo/take-payment.ts:24:31)',
  )
})

test('of a recursion without end the first frames are shown, and the others are counted', () => {
  const frame = (own: boolean) => ({ text: 'at f', own })
  const deep = frameRuns(Array.from({ length: 1024 }, () => frame(true)))
  expect(firstRuns(deep, 24)).toEqual({ runs: [{ own: true, frames: deep[0]!.frames.slice(0, 24) }], left: 1000 })
  expect(firstRuns(deep, 1024)).toEqual({ runs: deep, left: 0 })
  // Through a library: each run of it is one line.
  const through = frameRuns(Array.from({ length: 30 }, (_, at) => frame(at % 3 === 0)))
  expect(firstRuns(through, 4)).toEqual({ runs: through.slice(0, 4), left: 24 })
})
