{{- define "dlq.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* At most 50 characters: suffixes such as "-ingester" follow. */}}
{{- define "dlq.fullname" -}}
{{- $name := include "dlq.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Called with (dict "root" $ "component" "api"), as are those below that know their component. */}}
{{- define "dlq.selectorLabels" -}}
app.kubernetes.io/name: {{ include "dlq.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "dlq.labels" -}}
{{ include "dlq.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: dlq-manager
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The API has the release's own name, because others call it. */}}
{{- define "dlq.componentName" -}}
{{- $name := include "dlq.fullname" .root -}}
{{- if eq .component "api" -}}{{ $name }}{{- else -}}{{ printf "%s-%s" $name .component }}{{- end -}}
{{- end -}}

{{- define "dlq.image" -}}
{{- with .Values.image -}}
{{- $tag := .tag | default $.Chart.AppVersion -}}
{{- with .registry -}}{{ trimSuffix "/" . }}/{{- end -}}
{{- .repository -}}
{{- if .digest -}}@{{ .digest }}{{- else -}}:{{ $tag }}{{- end -}}
{{- end -}}
{{- end -}}

{{- define "dlq.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "dlq.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{/* JSON list of the services to run. */}}
{{- define "dlq.components" -}}
{{- $names := list -}}
{{- if .Values.api.enabled -}}{{- $names = append $names "api" -}}{{- end -}}
{{- if and .Values.ingester.enabled .Values.kafka.enabled -}}{{- $names = append $names "ingester" -}}{{- end -}}
{{- if .Values.retrier.enabled -}}{{- $names = append $names "retrier" -}}{{- end -}}
{{- $names | toJson -}}
{{- end -}}

{{/* JSON of a service's section, completed by the values for all services. Maps are merged; null takes the common value. */}}
{{- define "dlq.settings" -}}
{{- $own := dict -}}
{{- range $key, $value := index .root.Values .component -}}
{{- if not (kindIs "invalid" $value) -}}{{- $_ := set $own $key $value -}}{{- end -}}
{{- end -}}
{{- $all := pick .root.Values "replicaCount" "autoscaling" "podAnnotations" "podLabels" "nodeSelector" "tolerations" "affinity" "priorityClassName" "podDisruptionBudget" "terminationGracePeriodSeconds" -}}
{{- $merged := mergeOverwrite (deepCopy $all) (deepCopy $own) -}}
{{- $_ := set $merged "env" (concat .root.Values.env ($own.env | default list)) -}}
{{- $merged | toJson -}}
{{- end -}}

{{/* Seconds of a duration such as 9s, 1m30s or 500ms (rounded up). */}}
{{- define "dlq.seconds" -}}
{{- $rest := . -}}
{{- $milliseconds := 0 -}}
{{- range $unit, $factor := dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 "d" 86400000 -}}
{{- range regexFindAll (printf "[0-9.]+%s([0-9]|$)" $unit) $rest -1 -}}
{{- $milliseconds = addf $milliseconds (mulf (float64 (regexFind "^[0-9.]+" .)) $factor) -}}
{{- end -}}
{{- end -}}
{{- divf $milliseconds 1000 | ceil -}}
{{- end -}}

{{/* The API's first token: the existing one, else a new one, the same throughout this rendering. */}}
{{- define "dlq.token" -}}
{{- if not (hasKey .Values.auth "madeToken") -}}
{{- $secret := lookup "v1" "Secret" .Release.Namespace (printf "%s-token" (include "dlq.fullname" .)) -}}
{{- $token := randAlphaNum 43 -}}
{{- with $secret -}}{{- $token = index .data "token" | b64dec -}}{{- end -}}
{{- $_ := set .Values.auth "madeToken" $token -}}
{{- end -}}
{{- .Values.auth.madeToken -}}
{{- end -}}

{{- define "dlq.makesToken" -}}
{{- $auth := .Values.config.auth | default dict -}}
{{- if and .Values.auth.generateToken (not $auth.tokens) (not $auth.jwt) -}}true{{- end -}}
{{- end -}}

{{/* JSON of config.yaml, without the generated token. */}}
{{- define "dlq.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- $_ := set $config "server" (mergeOverwrite (dict "host" "::") ($config.server | default dict) (dict "port" .Values.container.port)) -}}
{{- $kafka := $config.kafka | default dict -}}
{{- if not .Values.kafka.enabled -}}
{{- $kafka = omit $kafka "brokers" -}}
{{- else if .Values.kafka.brokers -}}
{{- $kafka = set $kafka "brokers" .Values.kafka.brokers -}}
{{- end -}}
{{- $_ := set $config "kafka" $kafka -}}
{{- /* The URL says all of it, except for a component that has a Secret of its own. */ -}}
{{- $own := list -}}
{{- range list .Values.api .Values.ingester .Values.retrier -}}
{{- with ((. | default dict).database | default dict).existingSecret -}}{{- $own = append $own . -}}{{- end -}}
{{- end -}}
{{- if and .Values.database.existingSecret .Values.database.urlKey (not $own) -}}
{{- $_ := set $config "database" (omit ($config.database | default dict) "host" "port" "name") -}}
{{- end -}}
{{- if .Values.archive.cronJob.enabled -}}
{{- $_ := set $config "cron" (mergeOverwrite ($config.cron | default dict) (dict "archive" "off")) -}}
{{- end -}}
{{- $config | toJson -}}
{{- end -}}

{{- define "dlq.brokers" -}}
{{- if .Values.kafka.enabled -}}
{{- $brokers := .Values.kafka.brokers | default ((.Values.config.kafka | default dict).brokers) | default list -}}
{{- if kindIs "string" $brokers -}}{{- $brokers = splitList "," $brokers -}}{{- end -}}
{{- $brokers | toJson -}}
{{- else -}}[]{{- end -}}
{{- end -}}
