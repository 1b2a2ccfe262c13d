import { describe, expect, test } from 'vitest'
import { rootCause } from './stack-trace.ts'

type Case = [title: string, trace: string, errorClass: string | null, message: string | null, location: string | null]

const javascript: Case[] = [
  [
    'a V8 trace is placed at the first file that is not a dependency',
    `TypeError: Cannot read properties of undefined (reading 'id')
    at Object.parse (/app/node_modules/zod/lib/index.js:10:3)
    at OrderService.process (/app/src/orders.js:10:15)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)`,
    'TypeError',
    "Cannot read properties of undefined (reading 'id')",
    'OrderService.process (src/orders.js)',
  ],
  [
    'async, constructors, aliases and file URLs are read',
    `RangeError [ERR_OUT_OF_RANGE]: The value is out of range
    at new Promise (<anonymous>)
    at async Promise.all (index 0)
    at async Orders.run [as handler] (file:///srv/orders/dist/orders.mjs:1:2)`,
    'RangeError',
    'The value is out of range',
    'Orders.run (dist/orders.mjs)',
  ],
  [
    'code at the top of a file is placed in the file',
    `Error: boom
    at Object.<anonymous> (C:\\app\\src\\main.js:3:7)
    at Module._compile (node:internal/modules/cjs/loader:1554:14)`,
    'Error',
    'boom',
    'src/main.js',
  ],
  [
    'build hashes and release directories are no part of the place',
    `Error: boom
    at https://cdn.acme.com/20260105/main.3f2a1b9c.js?v=3:1:20400`,
    'Error',
    'boom',
    '*/main.*.js',
  ],
  [
    "Node's printed cause is the root cause",
    `Error: order failed
    at process (/app/src/orders.js:4:9) {
  [cause]: Error: connect ECONNREFUSED 10.0.0.7:5432
      at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1611:16)
      at connect (/app/src/database.js:12:3) {
    code: 'ECONNREFUSED'
  }
}`,
    'Error',
    'connect ECONNREFUSED 10.0.0.7:5432',
    'connect (src/database.js)',
  ],
  [
    'evaluated code is no own file',
    `ReferenceError: x is not defined
    at eval (eval at render (/app/src/template.js:3:4), <anonymous>:1:10)
    at render (/app/src/template.js:3:4)`,
    'ReferenceError',
    'x is not defined',
    'render (src/template.js)',
  ],
  [
    'a Firefox trace has frames and no header',
    `process@https://acme.com/assets/orders.js:10:15
async*run/<@https://acme.com/assets/main.js:3:1`,
    null,
    null,
    'process (assets/orders.js)',
  ],
]

const python: Case[] = [
  [
    "Python's last own frame is where it failed",
    `Traceback (most recent call last):
  File "/app/orders/consumer.py", line 31, in run
    self.process(message)
    ~~~~~~~~~~~~^^^^^^^^^
  File "/app/orders/service.py", line 42, in process
    return json.loads(value)
  File "/usr/lib/python3.12/json/__init__.py", line 346, in loads
    return _default_decoder.decode(s)
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)`,
    'json.decoder.JSONDecodeError',
    'Expecting value: line 1 column 1 (char 0)',
    'process (orders/service.py)',
  ],
  [
    'an explicit cause is the root cause',
    `Traceback (most recent call last):
  File "/app/orders/store.py", line 5, in load
    return rows[key]
KeyError: 'k7'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/app/orders/consumer.py", line 9, in run
    load(key)
orders.errors.OrderError: no order`,
    'KeyError',
    "'k7'",
    'load (orders/store.py)',
  ],
  [
    'an exception in a handler is not caused by what it handled',
    `Traceback (most recent call last):
  File "/app/orders/store.py", line 5, in load
    return rows[key]
KeyError: 'k7'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/app/orders/consumer.py", line 9, in <module>
    log(key)
NameError: name 'log' is not defined
`,
    'NameError',
    "name 'log' is not defined",
    'orders/consumer.py',
  ],
  [
    'installed packages are passed over',
    `Traceback (most recent call last):
  File "/app/orders/db.py", line 7, in connect
    psycopg.connect(url)
  File "/venv/lib/python3.12/site-packages/psycopg/connection.py", line 117, in connect
    raise last_ex.with_traceback(None)
psycopg.OperationalError: connection failed`,
    'psycopg.OperationalError',
    'connection failed',
    'connect (orders/db.py)',
  ],
  [
    'an exception group is read through its margin',
    `  + Exception Group Traceback (most recent call last):
  |   File "/app/orders/main.py", line 4, in main
  |     raise ExceptionGroup("two", errors)
  | ExceptionGroup: two (2 sub-exceptions)`,
    'ExceptionGroup',
    'two (2 sub-exceptions)',
    'main (orders/main.py)',
  ],
]

const go: Case[] = [
  [
    'a panic is placed at the function that caused it, not at who recovered',
    `panic: runtime error: invalid memory address or nil pointer dereference [recovered]
goroutine 18 [running]:
runtime/debug.Stack()
	/usr/local/go/src/runtime/debug/stack.go:24 +0x5e
main.(*Consumer).recover.func1()
	/app/consumer.go:31 +0x45
panic({0x4a2f20?, 0x5b1c40?})
	/usr/local/go/src/runtime/panic.go:770 +0x132
github.com/acme/orders.(*Service).Process.func1({0xc0000b4000, 0x5})
	/app/orders/service.go:42 +0x1d
main.main()
	/app/main.go:10 +0x25

goroutine 19 [select]:
main.other()
	/app/other.go:1 +0x1`,
    'panic',
    'runtime error: invalid memory address or nil pointer dereference',
    'github.com/acme/orders.(*Service).Process',
  ],
  [
    'modules from the cache and the standard library are passed over',
    `goroutine 1 [running]:
encoding/json.(*decodeState).object(0xc000, {0x1, 0x2})
	encoding/json/decode.go:755 +0xd5
github.com/segmentio/kafka-go.(*Reader).FetchMessage(0xc0)
	/root/go/pkg/mod/github.com/segmentio/kafka-go@v0.4.47/reader.go:812 +0x3
orders/consumer.Run[...](0x1)
	/src/consumer/run.go:20 +0x9
created by main.main in goroutine 1
	/src/main.go:8 +0x2`,
    null,
    null,
    'orders/consumer.Run',
  ],
  [
    'neither who started a goroutine nor what others were doing is where it failed',
    `panic: close of closed channel

goroutine 7 [running]:
panic({0x4a2f20?, 0x5b1c40?})
	/usr/local/go/src/runtime/panic.go:770 +0x132
github.com/segmentio/kafka-go.(*Reader).Close(0xc0)
	/root/go/pkg/mod/github.com/segmentio/kafka-go@v0.4.47/reader.go:812 +0x3
created by main.main in goroutine 1
	/app/main.go:8 +0x2

goroutine 1 [select]:
main.wait()
	/app/main.go:1 +0x1`,
    'panic',
    'close of closed channel',
    'github.com/segmentio/kafka-go.(*Reader).Close',
  ],
  [
    'a wrapped error of pkg/errors is read',
    `connection refused
main.process
	/app/main.go:42
main.main
	/app/main.go:10
runtime.main
	/usr/local/go/src/runtime/proc.go:250`,
    null,
    null,
    'main.process',
  ],
]

const dotnet: Case[] = [
  [
    'the innermost exception stands last among the headers, and its frames first',
    `System.InvalidOperationException: Order failed
 ---> System.NullReferenceException: Object reference not set to an instance of an object.
   at Acme.Orders.Repository.Load(Int32 id) in /src/Orders/Repository.cs:line 42
   --- End of inner exception stack trace ---
   at Acme.Orders.Consumer.Handle(Order order) in /src/Orders/Consumer.cs:line 9`,
    'System.NullReferenceException',
    'Object reference not set to an instance of an object.',
    'Acme.Orders.Repository.Load',
  ],
  [
    "an async method's state machine counts as the method",
    `System.Text.Json.JsonException: 'x' is an invalid start of a value.
   at System.Text.Json.ThrowHelper.ReThrowWithPath(ReadStack& state, JsonReaderException ex)
   at Acme.Orders.Service.<ProcessAsync>d__5.MoveNext() in C:\\src\\Service.cs:line 12
--- End of stack trace from previous location ---
   at System.Runtime.CompilerServices.TaskAwaiter.ThrowForNonSuccess(Task task)`,
    'System.Text.Json.JsonException',
    "'x' is an invalid start of a value.",
    'Acme.Orders.Service.ProcessAsync',
  ],
  [
    'lambdas, local functions and type arguments are no part of the place',
    `Acme.Orders.OrderException: no
   at Acme.Orders.Handler\`1.<>c__DisplayClass3_0.<Handle>b__1[T](Order order)`,
    'Acme.Orders.OrderException',
    'no',
    'Acme.Orders.Handler.Handle',
  ],
  [
    'the repeated inner exceptions of an AggregateException are passed over',
    `System.AggregateException: One or more errors occurred. (timeout)\r
 ---> System.TimeoutException: timeout\r
   at Acme.Orders.Client.<Send>g__Once|3_0(Uri uri)\r
   --- End of inner exception stack trace ---\r
   at System.Threading.Tasks.Task.Wait()\r
 ---> (Inner Exception #0) System.TimeoutException: timeout\r
   at Acme.Orders.Other.Call()<---\r
`,
    'System.TimeoutException',
    'timeout',
    'Acme.Orders.Client.Send.Once',
  ],
]

const languages = { javascript, python, go, dotnet }

describe.each(Object.entries(languages))('%s', (_, cases) => {
  test.each(cases)('%s', (_, trace, errorClass, message, location) => {
    const { nested: _nested, ...read } = rootCause(trace)
    expect(read).toEqual({ errorClass, message, location })
  })
})

describe('any trace', () => {
  test('text that is no trace has no class, message or place', () => {
    for (const text of ['', 'order failed', 'mail to ada@acme.com', 'look at main.go:', 'a\nb\nc']) {
      expect(rootCause(text)).toMatchObject({ location: null, nested: false })
    }
  })

  test('the root cause of a trace that is too long to read as a whole is found at its end', () => {
    const frames = '\tat org.springframework.aop.Proxy.invoke(Proxy.java:1)\n'.repeat(2000)
    const trace = `a.Outer: x\n${frames}Caused by: com.acme.Inner: y\n\tat com.acme.Orders.save(Orders.java:3)\n`
    expect(rootCause(trace)).toEqual({
      errorClass: 'com.acme.Inner',
      message: 'y',
      location: 'com.acme.Orders.save',
      nested: true,
    })
  })
})
