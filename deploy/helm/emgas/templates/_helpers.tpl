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
  - name: EMGAS_INSTANCE # a worker that comes back within EMGAS_SESSION_TIMEOUT moves no partition
    valueFrom: {fieldRef: {fieldPath: metadata.name}}
  {{- with .Values.kafka.protocol }}
  - {name: EMGAS_SECURITY_PROTOCOL, value: {{ . }}}
  {{- end }}
  {{- if .Values.kafka.caSecret }}
  - {name: EMGAS_CA_FILE, value: /kafka/ca/ca.crt}
  {{- end }}
  {{- with .Values.kafka.userSecret }}
  {{- if hasPrefix "SASL" $.Values.kafka.protocol }}
  - {name: EMGAS_SASL_USERNAME, value: {{ . }}}
  - {name: EMGAS_SASL_PASSWORD_FILE, value: /kafka/user/password}
  {{- else }}
  - {name: EMGAS_CERT_FILE, value: /kafka/user/user.crt}
  - {name: EMGAS_KEY_FILE, value: /kafka/user/user.key}
  {{- end }}
  {{- end }}
  {{- range $name, $value := .Values.settings }}
  - {name: EMGAS_{{ upper $name }}, value: {{ $value | quote }}}
  {{- end }}
{{- with .Values.settingsSecret }}
envFrom:
  - secretRef: {name: {{ . }}}
{{- end }}
{{- end -}}

{{- define "emgas.kafkaMounts" -}}
{{- if .Values.kafka.caSecret }}
- {name: kafka-ca, mountPath: /kafka/ca, readOnly: true}
{{- end }}
{{- if .Values.kafka.userSecret }}
- {name: kafka-user, mountPath: /kafka/user, readOnly: true}
{{- end }}
{{- end -}}

{{- define "emgas.kafkaVolumes" -}}
{{- with .Values.kafka.caSecret }}
- {name: kafka-ca, secret: {secretName: {{ . }}}}
{{- end }}
{{- with .Values.kafka.userSecret }}
- {name: kafka-user, secret: {secretName: {{ . }}}}
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
