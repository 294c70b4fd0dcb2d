/** `hookhelm/testing`: the test doubles that Hookhelm's own tests use. */
export { badCommands } from './bad-commands.ts'
export { type BadReceiver, badReceiver, type Received } from './bad-receiver.ts'
export { type FakeClock, fakeClock } from './fake-clock.ts'
export { type DnsScript, type FakeDns, startFakeDns } from './fake-dns.ts'
export type { FakeAnswer, FakeCall, FakeUsage } from './fake-model/fake-answer.ts'
export {
  type FakeModel,
  type FakeModelOptions,
  type FakeRequest,
  startFakeModel,
} from './fake-model/fake-model.ts'
export type { FakeProvider } from './fake-model/wire-formats.ts'
export {
  type FaultPlan,
  type FaultyStore,
  failBySeed,
  failMethods,
  failNth,
  faultyStore,
  type StoreCall,
  type StoreFault,
} from './faulty-store.ts'
export { type RecordedDispatch, type Recorder, recorder } from './recorder.ts'
