{{- define "emgas.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "emgas.labels" -}}
app.kubernetes.io/name: emgas
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end -}}

{{- define "emgas.selector" -}}
app.kubernetes.io/name: emgas
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "emgas.image" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- end -}}

{{- define "emgas.environment" -}}
env:
  - {name: EMGAS_BROKER, value: {{ .Values.broker | quote }}}
  - {name: EMGAS_PREFIX, value: {{ .Values.prefix | quote }}}
  - {name: EMGAS_DATA, value: /data}
  - {name: EMGAS_HEALTH, value: "0.0.0.0:{{ .Values.worker.healthPort }}"}
  - {name: HOME, value: /tmp}
  {{- range $name, $value := .Values.settings }}
  - {name: EMGAS_{{ upper $name }}, value: {{ $value | quote }}}
  {{- end }}
{{- with .Values.settingsSecret }}
envFrom:
  - secretRef: {name: {{ . }}}
{{- end }}
{{- end -}}

{{- define "emgas.pod" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "emgas.container" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end -}}
