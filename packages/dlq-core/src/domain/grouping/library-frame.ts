// Decides which frames of a stack trace belong to a runtime or a library. An operator of a consumer
// does not look for the mistake there first.

/** The first one, two or three segments of Java, Kotlin and Scala packages. */
const jvmPackages: ReadonlySet<string> = new Set([
  ...['java', 'javax', 'jakarta', 'jdk', 'sun', 'kotlin', 'kotlinx', 'scala', 'groovy', 'clojure', '_COROUTINE'],
  ...['akka', 'cats', 'zio', 'fs2', 'reactor', 'rx', 'okhttp3', 'okio', 'retrofit2', 'feign', 'graphql'],
  ...['com.sun', 'com.oracle', 'com.ibm', 'com.fasterxml', 'com.mongodb', 'com.mysql', 'com.zaxxer', 'com.squareup'],
  ...['com.amazonaws', 'com.azure', 'com.datastax', 'com.hazelcast', 'com.rabbitmq', 'com.typesafe', 'com.lmax'],
  ...['com.google.api', 'com.google.cloud', 'com.google.common', 'com.google.gson', 'com.google.inject'],
  ...['com.google.protobuf', 'com.github.benmanes', 'com.microsoft.sqlserver', 'com.netflix.hystrix', 'com.jayway'],
  ...['io.confluent', 'io.debezium', 'io.quarkus', 'io.smallrye', 'io.micrometer', 'io.micronaut', 'io.netty'],
  ...['io.vertx', 'io.grpc', 'io.reactivex', 'io.opentelemetry', 'io.opentracing', 'io.undertow', 'io.lettuce'],
  ...['io.github.resilience4j', 'io.projectreactor', 'io.r2dbc', 'io.ktor', 'io.arc', 'io.jsonwebtoken'],
  ...['net.bytebuddy', 'net.sf', 'net.logstash', 'redis.clients', 'software.amazon', 'oracle.jdbc', 'brave', 'zipkin2'],
  ...['org.apache', 'org.springframework', 'org.hibernate', 'org.jboss', 'org.eclipse', 'org.codehaus', 'org.aspectj'],
  ...['org.postgresql', 'org.mariadb', 'org.h2', 'org.jooq', 'org.mybatis', 'org.flywaydb', 'org.elasticsearch'],
  ...['org.opensearch', 'org.slf4j', 'org.junit', 'org.mockito', 'org.glassfish', 'org.xml', 'org.w3c', 'org.json'],
  ...['org.reactivestreams', 'org.redisson', 'org.yaml', 'org.joda', 'org.ietf', 'org.graalvm', 'org.xerial'],
])

/** Whether a Java method, `package.Class.method`, belongs to a runtime, framework or library. */
export function isJvmLibrary(method: string): boolean {
  let end = -1
  for (let segments = 1; segments <= 3; segments++) {
    end = method.indexOf('.', end + 1)
    if (end === -1) return false
    if (jvmPackages.has(method.slice(0, end))) return true
  }
  return false
}

/** Whether a .NET method, `Namespace.Class.Method`, belongs to the runtime or a well-known library. */
export function isDotnetLibrary(method: string): boolean {
  return /^(?:System|Microsoft|Windows|Mono|Interop|FSharp|Internal|Confluent|MassTransit|NServiceBus|Rebus|Wolverine|KafkaFlow|MediatR|Polly|Newtonsoft|Npgsql|MySql|MySqlConnector|MongoDB|StackExchange|Dapper|Grpc|Google|Amazon|Azure|AutoMapper|FluentValidation|Castle|Autofac|Serilog|NLog|OpenTelemetry|Hangfire|Quartz)\.|^(?:lambda_method|dynamicClass)/.test(
    method,
  )
}

/** Files of Node before version 12, which it named without a directory. */
const oldNodeFiles =
  /^(?:_[a-z_]+|bootstrap_node|child_process|dgram|dns|domain|events|fs|https?|module|net|stream|timers|tls|vm)\.js$/

/** Whether a JavaScript file is Node's own, a browser's, a dependency's, or no file. */
export function isJavascriptLibrary(path: string): boolean {
  return (
    /node_modules[\\/]|\.yarn[\\/]/.test(path) ||
    /^(?:node:|internal\/|native\b|<|index \d|wasm:|chrome|moz-extension|resource:|\[native|self-hosted)/.test(path) ||
    oldNodeFiles.test(path)
  )
}

/** Whether a Python file is of the standard library, an installed package, or no file. */
export function isPythonLibrary(path: string): boolean {
  return /(?:^|\/)(?:site|dist)-packages\/|\/lib(?:64)?\/python[\d.]*\/|\/Python[\d.]+\/[Ll]ib\/|\/python[\d.]+\.zip\/|^</.test(
    path,
  )
}

/** Roots of Go's standard library, as they begin an import path. */
const goStandard =
  /^(?:archive|bufio|bytes|cmp|compress|container|context|crypto|database\/sql|debug|embed|encoding|errors|expvar|flag|fmt|go|hash|html|image|index|internal|io|iter|log|maps|math|mime|net|os|path|plugin|reflect|regexp|runtime|slices|sort|strconv|strings|sync|syscall|testing|text|time|unicode|unique|unsafe|vendor)[./]/

/**
 * Whether a Go function belongs to the standard library or a module that was downloaded:
 * by its file where that tells (GOROOT, the module cache, a vendored or `@v` path), else by its name.
 */
export function isGoLibrary(name: string, path: string): boolean {
  return (
    /\/pkg\/mod\/|\/vendor\/|@v\d|^\/usr\/(?:local\/)?(?:lib\/)?go|\/go\/src\/(?:runtime|net|internal)\/|^_testmain/.test(
      path,
    ) ||
    name.startsWith('panic') ||
    (goStandard.test(name) && !name.startsWith('main.'))
  )
}
