import { describe, expect, test } from 'vitest'
import { rootCause } from './stack-trace.ts'

type Case = [title: string, trace: string, errorClass: string | null, message: string | null, location: string | null]

const java: Case[] = [
  [
    "a listener's exception is the last cause, at its first own frame",
    `org.springframework.kafka.listener.ListenerExecutionFailedException: Listener method 'public void com.acme.OrderListener.on(Order)' threw exception
	at org.springframework.kafka.listener.KafkaMessageListenerContainer$ListenerConsumer.decorateException(KafkaMessageListenerContainer.java:2946)
	at java.base/java.lang.Thread.run(Thread.java:840)
Caused by: com.acme.OrderFailedException: order 7
	at com.acme.OrderListener.on(OrderListener.java:27)
	... 12 more
Caused by: java.util.NoSuchElementException: No value present
	at java.base/java.util.Optional.orElseThrow(Optional.java:377)
	at com.acme.OrderService.find(OrderService.java:88)
	... 14 more`,
    'java.util.NoSuchElementException',
    'No value present',
    'com.acme.OrderService.find',
  ],
  [
    'a lambda counts as the method around it',
    `java.lang.NullPointerException
	at com.acme.OrderService.lambda$process$0(OrderService.java:12)
	at com.acme.OrderService$$Lambda/0x000000080113c000.apply(Unknown Source)`,
    'java.lang.NullPointerException',
    null,
    'com.acme.OrderService.process',
  ],
  [
    'a hidden class counts as the class it was made for, whatever its address',
    `java.lang.IllegalStateException: closed
	at java.base/java.util.ArrayList.forEach(ArrayList.java:1596)
	at app//com.acme.OrderService$$Lambda$14/0x0000000800066840.accept(Unknown Source)`,
    'java.lang.IllegalStateException',
    'closed',
    'com.acme.OrderService.accept',
  ],
  [
    'a Spring proxy counts as the class behind it',
    `java.lang.IllegalArgumentException: negative
	at org.springframework.util.Assert.isTrue(Assert.java:121)
	at com.acme.Orders$$SpringCGLIB$$0.save(<generated>)`,
    'java.lang.IllegalArgumentException',
    'negative',
    'com.acme.Orders.save',
  ],
  [
    'an older CGLIB proxy counts as the class behind it',
    `java.lang.IllegalArgumentException
	at com.acme.Orders$$EnhancerBySpringCGLIB$$3f2a1b9c.save(<generated>)`,
    'java.lang.IllegalArgumentException',
    null,
    'com.acme.Orders.save',
  ],
  [
    'an anonymous class counts as the class around it',
    `java.lang.ArithmeticException: / by zero
	at com.acme.Orders$3$1.run(Orders.java:5)`,
    'java.lang.ArithmeticException',
    '/ by zero',
    'com.acme.Orders.run',
  ],
  [
    "a Quarkus client proxy counts as the bean's class",
    `java.lang.IllegalStateException: no
	at io.quarkus.arc.impl.ClientProxies.getDelegate(ClientProxies.java:33)
	at com.acme.Orders_ClientProxy.save(Unknown Source)`,
    'java.lang.IllegalStateException',
    'no',
    'com.acme.Orders.save',
  ],
  [
    'own frames that the cause shares with the error around it are found there',
    `com.acme.StorageException: could not store
	at com.acme.OrderRepository.save(OrderRepository.java:31)
	at com.acme.OrderListener.on(OrderListener.java:9)
Caused by: java.net.ConnectException: Connection refused
	at java.base/sun.nio.ch.Net.pollConnect(Native Method)
	at java.base/sun.nio.ch.NioSocketImpl.connect(NioSocketImpl.java:589)
	... 40 more`,
    'java.net.ConnectException',
    'Connection refused',
    'com.acme.OrderRepository.save',
  ],
  [
    "a trace without own frames is placed at the root cause's first",
    `org.apache.kafka.common.errors.SerializationException: Error deserializing
	at io.confluent.kafka.serializers.AbstractKafkaAvroDeserializer.deserialize(AbstractKafkaAvroDeserializer.java:228)
Caused by: com.fasterxml.jackson.core.JsonParseException: Unexpected character ('x' (code 120)): expected a value
 at [Source: (byte[])"xyz"; line: 1, column: 2]
	at com.fasterxml.jackson.core.JsonParser._constructError(JsonParser.java:2477)
	... 3 more`,
    'com.fasterxml.jackson.core.JsonParseException',
    "Unexpected character ('x' (code 120)): expected a value",
    'com.fasterxml.jackson.core.JsonParser._constructError',
  ],
  [
    'suppressed exceptions and their causes are passed over',
    `com.acme.CopyException: failed
	at java.base/java.util.Optional.get(Optional.java:1)
	Suppressed: java.io.IOException: close
		at com.acme.Stream.close(Stream.java:3)
	Caused by: java.io.IOException: disk
		at com.acme.Disk.flush(Disk.java:4)
Caused by: java.io.IOException: full
	at com.acme.Disk.write(Disk.java:9)`,
    'java.io.IOException',
    'full',
    'com.acme.Disk.write',
  ],
  [
    'a circular reference is no root cause',
    `java.lang.RuntimeException: outer
	at com.acme.A.a(A.java:1)
Caused by: java.lang.IllegalStateException: inner
	at com.acme.B.b(B.java:1)
Caused by: [CIRCULAR REFERENCE: java.lang.RuntimeException: outer]`,
    'java.lang.IllegalStateException',
    'inner',
    'com.acme.B.b',
  ],
  [
    'Kotlin coroutines and an uncaught exception of a thread are read like others',
    `Exception in thread "worker-1" java.lang.IllegalStateException: Check failed.
	at com.acme.OrderFlow$process$2.invokeSuspend(OrderFlow.kt:18)
	at kotlin.coroutines.jvm.internal.BaseContinuationImpl.resumeWith(ContinuationImpl.kt:33)`,
    'java.lang.IllegalStateException',
    'Check failed.',
    'com.acme.OrderFlow$process.invokeSuspend',
  ],
  [
    "Scala's anonymous functions count as the method around them",
    `java.util.NoSuchElementException: key not found: 7
	at scala.collection.immutable.Map$EmptyMap$.apply(Map.scala:243)
	at com.acme.Orders$.$anonfun$load$1$adapted(Orders.scala:14) ~[orders.jar:1.0]`,
    'java.util.NoSuchElementException',
    'key not found: 7',
    'com.acme.Orders$.load',
  ],
]

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

const languages = { java, javascript, python, go, dotnet }

describe.each(Object.entries(languages))('%s', (_, cases) => {
  test.each(cases)('%s', (_, trace, errorClass, message, location) => {
    const { nested: _nested, ...read } = rootCause(trace)
    expect(read).toEqual({ errorClass, message, location })
  })
})

describe('any trace', () => {
  test('text that is no trace tells nothing', () => {
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
