{{- define "jprof.account" -}}
{{- .Values.serviceAccount.name | default .Release.Name -}}
{{- end -}}

{{- define "jprof.image" -}}
{{- if not .Values.image.repository }}
{{- fail "image.repository is required: a jprof image that your nodes can pull, with its registry, for example registry.example/jprof, preferably with image.digest" }}
{{- end -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "jprof.labels" -}}
app.kubernetes.io/name: jprof
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/* The namespaces of captures, as a JSON list. */}}
{{- define "jprof.namespaces" -}}
{{- .Values.rbac.namespaces | default (list .Release.Namespace) | toJson -}}
{{- end -}}
