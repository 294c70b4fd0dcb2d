import { Button, Group, Modal, Select } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { GatewayError } from '../../gateway/call.ts'
import { useAction } from '../../gateway/use-action.ts'
import { useMethod } from '../../gateway/use-method.ts'
import type { Fields } from '../../parts/form/fields.ts'
import { Failed, Loaded, layout } from '../../parts/layout.tsx'
import { CopyCommand } from '../../parts/values.tsx'
import { defaultsOf, ParameterForm } from './parameter-form.tsx'

interface StartRunProps {
  readonly onClose: () => void
  /** The agent, if it is chosen already. */
  readonly agent?: string
  /** The parameters of an earlier run. */
  readonly parameters?: Fields
}

/** Starts an agent with parameters, in a form that its schema draws. */
export function StartRun({ onClose, agent, parameters }: StartRunProps) {
  const query = useMethod('blueprints.list')
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

export function RunForm({
  agent,
  schema,
  given,
}: Readonly<{ agent: string; schema: unknown; given: Fields | undefined }>) {
  const navigate = useNavigate()
  const [parameters, setParameters] = useState<Fields>(given ?? defaultsOf(schema))
  const start = useAction('runs.start', {
    onSuccess: ({ run_id }) => navigate({ to: '/runs/$runId', params: { runId: run_id } }),
  })
  const violations = start.error instanceof GatewayError ? start.error.violations : []
  const problems = new Map(violations.map(({ path, message }) => [path, message]))
  return (
    <>
      <ParameterForm schema={schema} value={parameters} onChange={setParameters} problems={problems} />
      <StartFailed error={start.error} />
      <Group justify="space-between">
        <CopyCommand text={startCommand(agent, parameters)} />
        <Button loading={start.isPending} onClick={() => start.mutate({ agent_name: agent, parameters })}>
          Start
        </Button>
      </Group>
    </>
  )
}

function StartFailed({ error }: Readonly<{ error: Error | null }>) {
  const violations = error instanceof GatewayError ? error.violations : []
  const lines = violations.map(({ path, message }) => `${path === '' ? 'the parameters' : path} ${message}`)
  return <Failed error={lines.length === 0 ? error : new Error(lines.join('; '))} />
}

/** The same run on the command line. */
export function startCommand(agent: string, parameters: Fields): string {
  const json = JSON.stringify(parameters).replaceAll("'", `'\\''`)
  return `hookhelm runs start --agent-name ${agent} --parameters '${json}'`
}
