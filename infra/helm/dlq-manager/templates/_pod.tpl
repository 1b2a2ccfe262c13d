{{/* Common to all our pods: identity, rights, mounts. */}}

{{- define "dlq.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ .Values.securityContext.runAsUser }}
runAsGroup: {{ .Values.securityContext.runAsGroup }}
fsGroup: {{ .Values.securityContext.runAsGroup }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "dlq.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* For the migration and archive Jobs: as a service, but without the ConfigMap, which does not exist before the hook. */}}
{{- define "dlq.jobPod" -}}
{{- $values := .root.Values -}}
metadata:
  labels: {{- include "dlq.labels" . | nindent 4 }}
  {{- with include "dlq.vaultAnnotations" (mergeOverwrite (dict "once" true) .) }}
  annotations: {{- . | nindent 4 }}
  {{- end }}
spec:
  restartPolicy: Never
  serviceAccountName: {{ .serviceAccountName }}
  automountServiceAccountToken: {{ $values.vault.enabled }}
  enableServiceLinks: false
  {{- with $values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext: {{- include "dlq.podSecurity" .root | nindent 4 }}
  {{- range $key := list "nodeSelector" "tolerations" "affinity" }}
  {{- with index $values $key }}
  {{ $key }}: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
  containers:
    - name: {{ .component }}
      image: {{ include "dlq.image" .root }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      command: {{ .command | toJson }}
      env:
        {{- range $key, $value := pick ($values.config.database | default dict) "host" "port" "name" "user" "ssl_mode" }}
        {{- if not (or (and (eq $key "user") $values.database.usernameKey) $values.database.urlKey) }}
        - { name: DLQ_DATABASE_{{ upper $key }}, value: {{ $value | toString | quote }} }
        {{- end }}
        {{- end }}
        {{- include "dlq.env" . | nindent 8 }}
        {{- with $values.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      securityContext: {{- include "dlq.containerSecurity" .root | nindent 8 }}
      resources: {{- toYaml .resources | nindent 8 }}
      volumeMounts: {{- include "dlq.volumeMounts" . | nindent 8 }}
  volumes: {{- include "dlq.volumes" . | nindent 4 }}
{{- end -}}
