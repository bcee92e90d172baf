{{/*
Templates for a pod of yours; README.md shows where each goes. All take the root context (.).
*/}}

{{- define "jprof-sidecar.values" -}}
{{- index .Values "jprof-sidecar" | toYaml -}}
{{- end -}}

{{/* "true" where the sidecar is a native one. */}}
{{- define "jprof-sidecar.isNative" -}}
{{- $values := include "jprof-sidecar.values" . | fromYaml -}}
{{- if eq $values.native "always" -}}true
{{- else if and (eq $values.native "auto") (semverCompare ">=1.29.0-0" .Capabilities.KubeVersion.Version) -}}true
{{- end -}}
{{- end -}}

{{- define "jprof-sidecar.image" -}}
{{- $values := include "jprof-sidecar.values" . | fromYaml -}}
{{- if not $values.image.repository }}
{{- fail "jprof-sidecar.image.repository is required: a jprof image that your nodes can pull, with its registry, for example registry.example/jprof, preferably with image.digest" }}
{{- end -}}
{{- if $values.image.digest -}}
{{ $values.image.repository }}@{{ $values.image.digest }}
{{- else -}}
{{ $values.image.repository }}:{{ $values.image.tag | default "0.1.0" }}
{{- end -}}
{{- end -}}

{{/* Under the pod's spec. */}}
{{- define "jprof-sidecar.podSpec" -}}
{{- $values := include "jprof-sidecar.values" . | fromYaml -}}
{{- if $values.enabled -}}
shareProcessNamespace: true
{{- end -}}
{{- end -}}

{{/* Under initContainers: the sidecar where it is native, else nothing. */}}
{{- define "jprof-sidecar.initContainers" -}}
{{- $values := include "jprof-sidecar.values" . | fromYaml -}}
{{- if and $values.enabled (include "jprof-sidecar.isNative" .) -}}
{{- include "jprof-sidecar.container" . -}}
{{- end -}}
{{- end -}}

{{/* Under containers: the sidecar where it is not native, else nothing. */}}
{{- define "jprof-sidecar.containers" -}}
{{- $values := include "jprof-sidecar.values" . | fromYaml -}}
{{- if and $values.enabled (not (include "jprof-sidecar.isNative" .)) -}}
{{- include "jprof-sidecar.container" . -}}
{{- end -}}
{{- end -}}

{{- define "jprof-sidecar.container" -}}
{{- $values := include "jprof-sidecar.values" . | fromYaml -}}
- name: jprof
  image: {{ include "jprof-sidecar.image" . | quote }}
  imagePullPolicy: {{ $values.image.pullPolicy }}
  command: [/jprof, serve]
  {{- if include "jprof-sidecar.isNative" . }}
  restartPolicy: Always
  {{- end }}
  {{- /* No probes: a sidecar in trouble must not take the application out of its Service. */}}
  env:
    - {name: JPROF_POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    - {name: JPROF_POD_UID, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}
    - {name: JPROF_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
    - {name: JPROF_NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
    {{- range $name, $value := dict "CLUSTER" $values.source.cluster "WORKLOAD_KIND" $values.source.workloadKind "WORKLOAD" $values.source.workload "CONTAINER" $values.source.container }}
    {{- if $value }}
    - {name: JPROF_{{ $name }}, value: {{ $value | quote }}}
    {{- end }}
    {{- end }}
    - {name: JPROF_SPOOL_QUOTA, value: {{ printf "%dMi" (int $values.spool.quotaMi) | quote }}}
    {{- if $values.agentVolume.enabled }}
    - {name: JPROF_AGENT_VOLUME, value: {{ $values.agentVolume.mountPath | quote }}}
    {{- end }}
  resources:
    requests: {{ toJson $values.resources }}
    limits: {{ toJson $values.resources }}
  securityContext:
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    runAsNonRoot: true
    {{- with $values.runAsUser }}
    runAsUser: {{ int64 . }}
    {{- end }}
    {{- if not (kindIs "invalid" $values.runAsGroup) }}
    runAsGroup: {{ int64 $values.runAsGroup }}
    {{- end }}
    capabilities: {drop: [ALL]}
    seccompProfile: {type: RuntimeDefault}
  volumeMounts:
    - {name: jprof-spool, mountPath: /var/lib/jprof}
    - {name: jprof-tmp, mountPath: /tmp}
    {{- if $values.agentVolume.enabled }}
    - {name: jprof-agent, mountPath: {{ $values.agentVolume.mountPath | quote }}}
    {{- end }}
    {{- if or $values.configMap $values.storeSecret $values.caConfigMap }}
    - {name: jprof-config, mountPath: /etc/jprof, readOnly: true}
    {{- end }}
{{- end -}}

{{/* Under volumeMounts of the container with the JVM. */}}
{{- define "jprof-sidecar.appVolumeMounts" -}}
{{- $values := include "jprof-sidecar.values" . | fromYaml -}}
{{- if $values.enabled -}}
{{- if $values.appTmp.enabled }}
- {name: jprof-app-tmp, mountPath: /tmp}
{{- end }}
{{- if $values.agentVolume.enabled }}
- {name: jprof-agent, mountPath: {{ $values.agentVolume.mountPath | quote }}, readOnly: true}
{{- end }}
{{- end -}}
{{- end -}}

{{/* Under the pod's volumes. */}}
{{- define "jprof-sidecar.volumes" -}}
{{- $values := include "jprof-sidecar.values" . | fromYaml -}}
{{- if $values.enabled -}}
- {name: jprof-spool, emptyDir: {sizeLimit: {{ printf "%dMi" (add 32 (mul 2 (int $values.spool.quotaMi))) | quote }}}}
- {name: jprof-tmp, emptyDir: {sizeLimit: 64Mi}}
{{- if $values.appTmp.enabled }}
- {name: jprof-app-tmp, emptyDir: {sizeLimit: {{ $values.appTmp.sizeLimit | quote }}}}
{{- end }}
{{- if $values.agentVolume.enabled }}
- {name: jprof-agent, emptyDir: {medium: Memory, sizeLimit: {{ $values.agentVolume.sizeLimit | quote }}}}
{{- end }}
{{- if or $values.configMap $values.storeSecret $values.caConfigMap }}
- name: jprof-config
  projected:
    {{- /* Readable by the JVM's group, which is the sidecar's, and only inside the sidecar's own file system. */}}
    defaultMode: 0444
    sources:
      {{- with $values.configMap }}
      - configMap: {name: {{ . | quote }}, items: [{key: config.yaml, path: config.yaml}]}
      {{- end }}
      {{- with $values.storeSecret }}
      - secret:
          name: {{ . | quote }}
          items:
            - {key: AWS_ACCESS_KEY_ID, path: store/AWS_ACCESS_KEY_ID}
            - {key: AWS_SECRET_ACCESS_KEY, path: store/AWS_SECRET_ACCESS_KEY}
      {{- end }}
      {{- with $values.caConfigMap }}
      - configMap: {name: {{ . | quote }}, items: [{key: ca.crt, path: store/ca.crt}]}
      {{- end }}
{{- end }}
{{- end -}}
{{- end -}}
