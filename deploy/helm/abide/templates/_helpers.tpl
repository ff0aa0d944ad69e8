{{- define "abide.name" -}}
{{- if contains "abide" .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-abide" .Release.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "abide.selector" -}}
app.kubernetes.io/name: abide
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "abide.labels" -}}
{{ include "abide.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "abide.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- define "abide.pod" -}}
metadata:
  labels: {{- include "abide.labels" . | nindent 4 }}
spec:
  automountServiceAccountToken: false
  securityContext:
    runAsNonRoot: true
    runAsUser: 22433
    runAsGroup: 22433
    fsGroup: 22433
    seccompProfile:
      type: RuntimeDefault
  # Longer than the server takes to end what is in flight.
  terminationGracePeriodSeconds: 30
  containers:
    - name: abide
      image: {{ include "abide.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      args: ["serve", "--listen", "0.0.0.0:22433", "--auth", "required"]
      env:
        - name: ABIDE_STORE
          {{- if .Values.postgres.existingSecret }}
          valueFrom:
            secretKeyRef:
              name: {{ .Values.postgres.existingSecret }}
              key: url
          {{- else }}
          value: sqlite:/var/lib/abide/abide.db
          {{- end }}
        {{- with .Values.masterKeySecret }}
        - name: ABIDE_MASTER_KEY
          valueFrom:
            secretKeyRef:
              name: {{ . }}
              key: master-key
        {{- end }}
        {{- with .Values.publicUrl }}
        - name: ABIDE_PUBLIC_URL
          value: {{ . | quote }}
        {{- end }}
        - name: ABIDE_ALLOW_HOST
          value: {{ include "abide.name" . }}
        {{- range $name, $value := .Values.env }}
        - name: {{ $name }}
          value: {{ $value | quote }}
        {{- end }}
      ports:
        - name: http
          containerPort: 22433
      startupProbe:
        exec:
          command: ["/usr/bin/abide", "ready"]
        periodSeconds: 2
        timeoutSeconds: 5
        failureThreshold: 150
      readinessProbe:
        exec:
          command: ["/usr/bin/abide", "ready"]
        periodSeconds: 10
        timeoutSeconds: 5
      livenessProbe:
        tcpSocket:
          port: http
        periodSeconds: 10
        timeoutSeconds: 5
      resources: {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: ["ALL"]
      volumeMounts:
        - name: state
          mountPath: /var/lib/abide
        - name: tmp
          mountPath: /tmp
  volumes:
    - name: tmp
      emptyDir: {}
    {{- if .Values.postgres.existingSecret }}
    - name: state
      emptyDir: {}
    {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
