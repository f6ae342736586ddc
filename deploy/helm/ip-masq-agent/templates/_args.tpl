{{/* The command line: only what differs from the agent's own defaults, so that what runs stays readable. */}}
{{- define "ip-masq-agent.args" -}}
{{- if eq .Values.listen.scope "node" }}
- --listen=127.0.0.1:{{ .Values.listen.port }}
{{- else if eq .Values.listen.scope "cluster" }}
- --listen=$(HOST_IP):{{ .Values.listen.port }}
{{- end }}
{{- if ne .Values.backend "auto" }}
- --backend={{ .Values.backend }}
{{- end }}
{{- with .Values.masqChain }}
- --masq-chain={{ . }}
{{- end }}
{{- if .Values.nomasqAllReservedRanges }}
- --nomasq-all-reserved-ranges
{{- end }}
{{- if .Values.enableIPv6 }}
- --enable-ipv6
{{- end }}
{{- if not .Values.randomFully }}
- --random-fully=false
{{- end }}
{{- with .Values.toPorts }}
- --to-ports={{ . }}
{{- end }}
{{- if .Values.dryRun }}
- --dry-run
{{- end }}
{{- if ne .Values.logFormat "text" }}
- --log-format={{ .Values.logFormat }}
{{- end }}
{{- with .Values.watchInterval }}
- --watch-interval={{ . }}
{{- end }}
{{- if .Values.staged.enabled }}
- --strict
{{- end }}
{{- if .Values.secondConfigMapName }}
- --config=/etc/config
{{- end }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}

{{- define "ip-masq-agent.name" -}}
{{- .Values.nameOverride | default "ip-masq-agent" -}}
{{- end -}}

{{/* The file as a node sees it. */}}
{{- define "ip-masq-agent.config" -}}
{{- range list "backend" "enableIPv6" "masqChain" "randomFully" "toPorts" }}
{{- if hasKey $.Values.config . }}
{{- fail (printf "config.%s: set the chart's value %s instead, which becomes a flag and would win over the file" . .) }}
{{- end }}
{{- end }}
{{- toYaml .Values.config }}
{{ end -}}

{{/* Staged, the beginning of the file's SHA-256 is part of the name: another config is another ConfigMap. */}}
{{- define "ip-masq-agent.configMapName" -}}
{{- .Values.configMapName }}
{{- if .Values.staged.enabled }}-{{ include "ip-masq-agent.config" . | sha256sum | trunc 8 }}{{ end }}
{{- end -}}

{{- define "ip-masq-agent.labels" -}}
k8s-app: ip-masq-agent
app.kubernetes.io/name: ip-masq-agent
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}
