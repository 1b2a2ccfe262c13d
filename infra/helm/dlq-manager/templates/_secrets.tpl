{{/* The files of secrets, mounted by Kubernetes or written by Vault's agent, and the variables that name them. */}}

{{/* JSON list of { setting, path, annotation parts } of vault.secrets, for the secrets that the component may see. */}}
{{- define "dlq.vaultSecrets" -}}
{{- $list := list -}}
{{- if .root.Values.vault.enabled -}}
{{- range $secret := .root.Values.vault.secrets -}}
{{- $setting := $secret.setting -}}
{{- if not $setting -}}
{{- if regexMatch "kafka" $secret.path -}}
{{- $setting = printf "kafka.sasl.%s" $secret.key -}}
{{- else if regexMatch "^database/creds/.*-ro$" $secret.path -}}
{{- $setting = printf "database.read_%s" (eq $secret.key "username" | ternary "user" $secret.key) -}}
{{- else if regexMatch "database" $secret.path -}}
{{- $setting = printf "database.%s" (eq $secret.key "username" | ternary "user" $secret.key) -}}
{{- else -}}
{{- fail (printf "vault.secrets: %s: say which setting it is, for example setting: database.password" $secret.path) -}}
{{- end -}}
{{- end -}}
{{- if hasPrefix "database.read_" $setting | ternary (eq $.component "api") (or (not (hasPrefix "kafka." $setting)) (has $.component (list "ingester" "retrier"))) -}}
{{- $list = append $list (dict "setting" $setting "path" $secret.path "key" $secret.key "file" $secret.mountPath) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $list | toJson -}}
{{- end -}}

{{/* The variable that names the file of a setting: DLQ_KAFKA_SASL_PASSWORD_FILE, DATABASE_URL_FILE. */}}
{{- define "dlq.fileVariable" -}}
{{- if eq . "database.url" -}}DATABASE_URL_FILE{{- else -}}DLQ_{{ . | replace "." "_" | upper }}_FILE{{- end -}}
{{- end -}}

{{- define "dlq.vaultAnnotations" -}}
{{- $secrets := include "dlq.vaultSecrets" . | fromJsonArray -}}
{{- if $secrets -}}
vault.hashicorp.com/agent-inject: "true"
vault.hashicorp.com/role: {{ .root.Values.vault.role | quote }}
vault.hashicorp.com/agent-init-first: "true"
vault.hashicorp.com/agent-run-as-same-user: "true"
{{- if .once }}
vault.hashicorp.com/agent-pre-populate-only: "true"
{{- end }}
{{- range $secret := $secrets }}
{{- $name := base $secret.file | replace "." "-" | replace "_" "-" }}
{{- $data := regexMatch "^[^/]+/data/" $secret.path | ternary ".Data.data" ".Data" }}
vault.hashicorp.com/agent-inject-secret-{{ $name }}: {{ $secret.path | quote }}
vault.hashicorp.com/agent-inject-file-{{ $name }}: {{ base $secret.file | quote }}
vault.hashicorp.com/secret-volume-path-{{ $name }}: {{ dir $secret.file | quote }}
vault.hashicorp.com/agent-inject-template-{{ $name }}: {{ printf "{{- with secret %q -}}{{ index %s %q }}{{- end -}}" $secret.path $data $secret.key | quote }}
{{- end }}
{{- with .root.Values.vault.annotations }}
{{ toYaml . }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* JSON of the values "database" or "kafka" (.section) as they are for the component: its own Secret stands for that of all. */}}
{{- define "dlq.login" -}}
{{- $login := deepCopy (index .root.Values .section) -}}
{{- $own := get (index .root.Values .component | default dict) .section | default dict -}}
{{- if $own.existingSecret -}}
{{- $login = mergeOverwrite (omit $login "urlKey" "clientSecretKey" "usernameKey") (omit $own "tls") -}}
{{- end -}}
{{- if ($own.tls | default dict).existingSecret -}}
{{- $_ := set $login "tls" (mergeOverwrite $login.tls $own.tls) -}}
{{- end -}}
{{- $login | toJson -}}
{{- end -}}

{{/* JSON map: variable → file, for the certificates in the Secret .tls.existingSecret, mounted at .mount. */}}
{{- define "dlq.tlsFiles" -}}
{{- $files := dict -}}
{{- if .tls.existingSecret -}}
{{- range $kind := list "ca" "cert" "key" -}}
{{- with get $.tls (printf "%sKey" $kind) -}}
{{- $_ := set $files (printf "%s_%s_FILE" $.prefix (upper $kind)) (printf "/etc/dlq-manager/%s/%s" $.mount .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $files | toJson -}}
{{- end -}}

{{/* JSON map: variable → file. Two sources of one setting are refused. */}}
{{- define "dlq.secretFiles" -}}
{{- $files := dict -}}
{{- $talksToKafka := and .root.Values.kafka.enabled (has .component (list "ingester" "retrier")) -}}
{{- with include "dlq.login" (dict "root" .root "component" .component "section" "database") | fromJson -}}
{{- if .existingSecret -}}
{{- if .urlKey -}}
{{- $_ := set $files "DATABASE_URL_FILE" (printf "/etc/dlq-manager/database/%s" .urlKey) -}}
{{- else -}}
{{- with .passwordKey -}}{{- $_ := set $files "DLQ_DATABASE_PASSWORD_FILE" (printf "/etc/dlq-manager/database/%s" .) -}}{{- end -}}
{{- with .usernameKey -}}{{- $_ := set $files "DLQ_DATABASE_USER_FILE" (printf "/etc/dlq-manager/database/%s" .) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- $files = merge $files (include "dlq.tlsFiles" (dict "tls" .tls "mount" "database-tls" "prefix" "DLQ_DATABASE_SSL") | fromJson) -}}
{{- end -}}
{{- if $talksToKafka -}}
{{- with include "dlq.login" (dict "root" .root "component" .component "section" "kafka") | fromJson -}}
{{- if .existingSecret -}}
{{- with .passwordKey -}}{{- $_ := set $files "DLQ_KAFKA_SASL_PASSWORD_FILE" (printf "/etc/dlq-manager/kafka/%s" .) -}}{{- end -}}
{{- with .usernameKey -}}{{- $_ := set $files "DLQ_KAFKA_SASL_USERNAME_FILE" (printf "/etc/dlq-manager/kafka/%s" .) -}}{{- end -}}
{{- with .clientSecretKey -}}{{- $_ := set $files "DLQ_KAFKA_SASL_CLIENT_SECRET_FILE" (printf "/etc/dlq-manager/kafka/%s" .) -}}{{- end -}}
{{- end -}}
{{- $files = merge $files (include "dlq.tlsFiles" (dict "tls" .tls "mount" "kafka-tls" "prefix" "DLQ_KAFKA_TLS") | fromJson) -}}
{{- end -}}
{{- end -}}
{{- if eq .component "api" -}}
{{- with .root.Values.auth -}}
{{- if .existingSecret -}}
{{- with .sessionKeyKey -}}{{- $_ := set $files "DLQ_AUTH_SESSION_KEY_FILE" (printf "/etc/dlq-manager/auth/%s" .) -}}{{- end -}}
{{- with .clientSecretKey -}}{{- $_ := set $files "DLQ_AUTH_OIDC_CLIENT_SECRET_FILE" (printf "/etc/dlq-manager/auth/%s" .) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range include "dlq.vaultSecrets" . | fromJsonArray -}}
{{- $variable := include "dlq.fileVariable" .setting -}}
{{- if hasKey $files $variable -}}
{{- fail (printf "%s comes from vault.secrets and from an existingSecret: take one of them away" .setting) -}}
{{- end -}}
{{- $_ := set $files $variable .file -}}
{{- end -}}
{{- $files | toJson -}}
{{- end -}}

{{- define "dlq.env" -}}
{{- $own := get (index .root.Values .component | default dict) "database" | default dict -}}
{{- if and $own.user (not $own.usernameKey) }}
- { name: DLQ_DATABASE_USER, value: {{ $own.user | quote }} }
{{- end }}
{{- range $variable, $file := include "dlq.secretFiles" . | fromJson }}
- { name: {{ $variable }}, value: {{ $file | quote }} }
{{- end }}
{{- with .root.Values.extraCa.configMap }}
- { name: NODE_EXTRA_CA_CERTS, value: {{ printf "/etc/dlq-manager/ca/%s" $.root.Values.extraCa.key | quote }} }
{{- end }}
{{- end -}}

{{/* JSON list of { name, path, source }. */}}
{{- define "dlq.mounts" -}}
{{- $mounts := list -}}
{{- $values := .root.Values -}}
{{- with include "dlq.login" (dict "root" .root "component" .component "section" "database") | fromJson -}}
{{- with .existingSecret -}}
{{- $mounts = append $mounts (dict "name" "database" "source" (dict "secret" (dict "secretName" .))) -}}
{{- end -}}
{{- with .tls.existingSecret -}}
{{- $mounts = append $mounts (dict "name" "database-tls" "source" (dict "secret" (dict "secretName" .))) -}}
{{- end -}}
{{- end -}}
{{- with $values.extraCa.configMap -}}
{{- $mounts = append $mounts (dict "name" "ca" "source" (dict "configMap" (dict "name" .))) -}}
{{- end -}}
{{- if and $values.auth.existingSecret (eq .component "api") -}}
{{- $mounts = append $mounts (dict "name" "auth" "source" (dict "secret" (dict "secretName" $values.auth.existingSecret))) -}}
{{- end -}}
{{- if and $values.kafka.enabled (has .component (list "ingester" "retrier")) -}}
{{- with include "dlq.login" (dict "root" .root "component" .component "section" "kafka") | fromJson -}}
{{- with .existingSecret -}}
{{- $mounts = append $mounts (dict "name" "kafka" "source" (dict "secret" (dict "secretName" .))) -}}
{{- end -}}
{{- with .tls.existingSecret -}}
{{- $mounts = append $mounts (dict "name" "kafka-tls" "source" (dict "secret" (dict "secretName" .))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $mounts | toJson -}}
{{- end -}}

{{- define "dlq.volumeMounts" -}}
- { name: tmp, mountPath: /tmp }
{{- range include "dlq.mounts" . | fromJsonArray }}
- { name: {{ .name }}, mountPath: /etc/dlq-manager/{{ .name }}, readOnly: true }
{{- end }}
{{- end -}}

{{- define "dlq.volumes" -}}
- { name: tmp, emptyDir: { sizeLimit: 64Mi } }
{{- range include "dlq.mounts" . | fromJsonArray }}
- name: {{ .name }}
  {{- toYaml .source | nindent 2 }}
{{- end }}
{{- end -}}
