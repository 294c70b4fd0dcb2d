import { Button, Group, Modal, Select } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { call, GatewayError } from '../../gateway/call.ts'
import { Failed, Loaded, layout } from '../../parts/layout.tsx'
import { CopyCommand } from '../../parts/values.tsx'
import { defaultsOf, type Fields, ParameterForm } from './parameter-form.tsx'

interface StartRunProps {
  readonly onClose: () => void
  /** The agent, if it is chosen already. */
  readonly agent?: string
  /** The parameters of an earlier run. */
  readonly parameters?: Fields
}

/** Starts an agent with parameters, in a form that its schema draws. */
export function StartRun({ onClose, agent, parameters }: StartRunProps) {
  const query = useQuery({
    queryKey: ['blueprints'],
    queryFn: ({ signal }) => call('blueprints.list', {}, signal),
  })
  const [chosen, setChosen] = useState(agent)
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={parameters === undefined ? 'Start a run' : `Run ${agent} again`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Loaded query={query} rows={3}>
        {({ blueprints }) => {
          const blueprint = blueprints.find(({ name }) => name === chosen)
          return (
            <div className={layout.stack}>
              <Select
                label="Agent"
                data={blueprints.map(({ name }) => name)}
                value={blueprint?.name ?? null}
                onChange={(name) => setChosen(name ?? undefined)}
                error={chosen !== undefined && blueprint === undefined ? `${chosen} was deleted` : undefined}
                searchable
                allowDeselect={false}
              />
              {blueprint === undefined ? null : (
                <RunForm
                  key={blueprint.name}
                  agent={blueprint.name}
                  schema={blueprint.definition.parameters_schema}
                  given={blueprint.name === agent ? parameters : undefined}
                />
              )}
            </div>
          )
        }}
      </Loaded>
    </Modal>
  )
}

interface RunFormProps {
  readonly agent: string
  readonly schema: unknown
  readonly given: Fields | undefined
}

export function RunForm({ agent, schema, given }: RunFormProps) {
  const navigate = useNavigate()
  const [parameters, setParameters] = useState<Fields>(given ?? defaultsOf(schema))
  const start = useMutation({
    mutationFn: () => call('runs.start', { agent_name: agent, parameters }),
    onSuccess: ({ run_id }) => navigate({ to: '/runs/$runId', params: { runId: run_id } }),
  })
  const violations = start.error instanceof GatewayError ? start.error.violations : []
  const problems = new Map(violations.map(({ path, message }) => [path, message]))
  return (
    <>
      <ParameterForm schema={schema} value={parameters} onChange={setParameters} problems={problems} />
      {start.error === null ? null : <StartFailed error={start.error} />}
      <Group justify="space-between">
        <CopyCommand text={startCommand(agent, parameters)} />
        <Button loading={start.isPending} onClick={() => start.mutate()}>
          Start
        </Button>
      </Group>
    </>
  )
}

function StartFailed({ error }: { readonly error: Error }) {
  const violations = error instanceof GatewayError ? error.violations : []
  const lines = violations.map(({ path, message }) => `${path === '' ? 'the parameters' : path} ${message}`)
  return <Failed error={lines.length === 0 ? error : new Error(lines.join('; '))} />
}

/** The same run on the command line. */
export function startCommand(agent: string, parameters: Fields): string {
  const json = JSON.stringify(parameters).replaceAll("'", `'\\''`)
  return `hookhelm runs start --agent-name ${agent} --parameters '${json}'`
}
