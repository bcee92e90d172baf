{{- define "shop.podSpec" -}}
{{- include "jprof-sidecar.podSpec" . }}
terminationGracePeriodSeconds: 10
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .Values.user }}
  runAsGroup: {{ .Values.group }}
  seccompProfile: {type: RuntimeDefault}
initContainers:
  {{- include "jprof-sidecar.initContainers" . | nindent 2 }}
containers:
  {{- range $name, $image := dict "shop" .Values.image "second" .Values.second }}
  {{- if $image }}
  - name: {{ $name }}
    image: {{ $image }}
    imagePullPolicy: Never
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: {drop: [ALL]}
    resources:
      requests: {cpu: {{ $.Values.cpu }}, memory: 192Mi}
      limits: {cpu: {{ $.Values.cpu }}, memory: 192Mi}
    volumeMounts:
      {{- include "jprof-sidecar.appVolumeMounts" $ | nindent 6 }}
  {{- end }}
  {{- end }}
  {{- include "jprof-sidecar.containers" . | nindent 2 }}
volumes:
  {{- include "jprof-sidecar.volumes" . | nindent 2 }}
{{- end -}}
