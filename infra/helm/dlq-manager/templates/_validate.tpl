{{/* Checks that a schema cannot express; they refuse before anything is rendered. */}}
{{- define "dlq.validate" -}}
{{- $config := .Values.config -}}
{{- range $path := list "database.password" "database.url" "kafka.sasl.password" "kafka.sasl.client_secret" "kafka.tls.key_passphrase" -}}
{{- $value := $config -}}
{{- range splitList "." $path -}}
{{- $value = kindIs "map" $value | ternary (get ($value | default dict) .) "" -}}
{{- end -}}
{{- if $value -}}
{{- fail (printf "config.%s would stand in a ConfigMap for all to read: put it into a Secret (database.existingSecret, kafka.existingSecret) or into Vault" $path) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.kafka.enabled (not (include "dlq.brokers" . | fromJsonArray)) -}}
{{- fail "kafka.brokers: name at least one, such as kafka-0:9092, or set kafka.enabled to false" -}}
{{- end -}}
{{- if and (not .Values.vault.enabled) .Values.vault.secrets -}}
{{- fail "vault.secrets are given but vault.enabled is false" -}}
{{- end -}}
{{- if and .Values.vault.enabled (not .Values.vault.role) -}}
{{- fail "vault.role: name the Vault role that the pods' service account may take" -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) -}}
{{- fail "ingress.hosts: name at least one, such as dlq.example.com" -}}
{{- end -}}
{{- $drain := add (include "dlq.seconds" (($config.app | default dict).shutdown_timeout | default "9s") | int) (include "dlq.seconds" (($config.server | default dict).drain_delay | default "1s") | int) -}}
{{- range $component := include "dlq.components" . | fromJsonArray -}}
{{- $grace := (include "dlq.settings" (dict "root" $ "component" $component) | fromJson).terminationGracePeriodSeconds | int -}}
{{- if le $grace (int $drain) -}}
{{- fail (printf "terminationGracePeriodSeconds of %s is %d, but its drain may take %d s (config.app.shutdown_timeout and config.server.drain_delay): it would be killed" $component $grace (int $drain)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
