import { expect, test } from 'vitest'
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
	at com.acme.Copy.run(Copy.java:1)
	Suppressed: java.io.IOException: close
		at com.acme.Stream.close(Stream.java:3)
	Caused by: java.io.IOException: disk
		at com.acme.Disk.flush(Disk.java:4)
Caused by: java.io.IOException: full
	at java.base/java.io.FileOutputStream.write(FileOutputStream.java:9)
	Suppressed: java.io.IOException: close
		at com.acme.Stream.close(Stream.java:3)
	... 1 more`,
    'java.io.IOException',
    'full',
    'com.acme.Copy.run',
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

test.each(java)('%s', (_, trace, errorClass, message, location) => {
  const { nested: _nested, ...read } = rootCause(trace)
  expect(read).toEqual({ errorClass, message, location })
})
