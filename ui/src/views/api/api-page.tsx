import { Button, JsonInput, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { GatewayError } from '../../gateway/call.ts'
import { Json } from '../../parts/json.tsx'
import { Failed, Loaded, layout, Page, Panel, Tag } from '../../parts/layout.tsx'
import styles from './api-page.module.css'

interface Operation {
  readonly method: string
  readonly path: string
  readonly id: string
  readonly summary: string
  readonly parameters: readonly Parameter[]
  readonly hasBody: boolean
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
}

/** Every method of the gateway, from its OpenAPI document, to read and to try. */
export function ApiPage() {
  const [chosen, setChosen] = useState<string>()
  const [typed, setTyped] = useState('')
  const query = useQuery({
    queryKey: ['openapi'],
    queryFn: readOperations,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Page
      title="API"
      purpose="Every method, over REST and WebSocket. A call from here runs with your own rights."
      actions={<a href="/v1/openapi.json">openapi.json</a>}
    >
      <Loaded query={query} rows={10}>
        {(operations) => {
          const operation = operations.find(({ id }) => id === chosen) ?? operations[0]
          return (
            <div className={`${layout.columns} ${styles.columns}`}>
              <Panel
                title={
                  <TextInput
                    size="xs"
                    placeholder="find a method"
                    aria-label="Find a method"
                    value={typed}
                    onChange={({ currentTarget }) => setTyped(currentTarget.value)}
                  />
                }
              >
                <div className={styles.list}>
                  {operations
                    .filter(({ id, path }) => `${id} ${path}`.includes(typed))
                    .map(({ id, method, path }) => (
                      <button
                        key={id}
                        type="button"
                        className={styles.operation}
                        aria-current={id === operation?.id}
                        onClick={() => setChosen(id)}
                      >
                        <b>{id}</b>
                        <code>
                          {method} {path}
                        </code>
                      </button>
                    ))}
                </div>
              </Panel>
              {operation === undefined ? null : <Try key={operation.id} operation={operation} />}
            </div>
          )
        }}
      </Loaded>
    </Page>
  )
}

function Try({ operation }: Readonly<{ operation: Operation }>) {
  const { method, path, summary, parameters, hasBody } = operation
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [body, setBody] = useState('{}')
  const send = useMutation({ mutationFn: () => request(operation, values, body) })
  return (
    <div className={layout.stack}>
      <Panel
        title={
          <code>
            {method} {path}
          </code>
        }
      >
        <div className={styles.form}>
          <p>{summary}</p>
          {parameters.map(({ name, required = false, description, in: place }) => (
            <TextInput
              key={name}
              label={name}
              description={description}
              required={required}
              rightSection={<Tag>{place}</Tag>}
              rightSectionWidth={64}
              value={values[name] ?? ''}
              onChange={({ currentTarget }) => setValues({ ...values, [name]: currentTarget.value })}
            />
          ))}
          {hasBody ? (
            <JsonInput
              label="Body"
              autosize
              minRows={4}
              value={body}
              onChange={setBody}
              validationError="This is not JSON"
            />
          ) : null}
          <Button
            size="xs"
            justify="center"
            className={layout.left ?? ''}
            loading={send.isPending}
            onClick={() => send.mutate()}
          >
            {method === 'GET' ? 'Call it' : `Call it (a real ${method})`}
          </Button>
        </div>
      </Panel>
      {send.error === null ? null : <Failed error={send.error} />}
      {send.data === undefined ? null : (
        <Panel title="Answer" aside={`status ${send.data.status}`}>
          <Json value={send.data.body} />
        </Panel>
      )}
    </div>
  )
}

async function request(
  { method, path, parameters, hasBody }: Operation,
  values: Readonly<Record<string, string>>,
  body: string,
) {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
  const url = new URL(filled, location.origin)
  for (const { name, in: place } of parameters)
    if (place === 'query' && values[name]) url.searchParams.set(name, values[name])
  const response = await fetch(url, {
    method,
    ...(hasBody ? { headers: { 'content-type': 'application/json' }, body } : {}),
  })
  return { status: response.status, body: (await response.json().catch(() => undefined)) as unknown }
}

async function readOperations(): Promise<readonly Operation[]> {
  const response = await fetch('/v1/openapi.json')
  if (!response.ok) throw new GatewayError(response.status, { message: 'the API document cannot be read' })
  const { paths } = (await response.json()) as {
    readonly paths: Readonly<
      Record<
        string,
        Readonly<
          Record<
            string,
            {
              readonly operationId?: string
              readonly summary?: string
              readonly description?: string
              readonly parameters?: readonly Parameter[]
              readonly requestBody?: unknown
            }
          >
        >
      >
    >
  }
  return Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, row]) => ({
      method: verb.toUpperCase(),
      path,
      id: row.operationId ?? `${verb} ${path}`,
      summary: row.summary ?? row.description ?? '',
      parameters: row.parameters ?? [],
      hasBody: row.requestBody !== undefined,
    })),
  )
}
