import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** `npm run dev:ui` passes requests for data on to this gateway. */
const gateway = process.env.HOOKHELM_URL ?? 'http://127.0.0.1:4665'

export default defineConfig({
  base: '/ui/',
  plugins: [react()],
  build: {
    target: 'es2024',
    // The gateway forbids data: addresses for scripts and fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: {
      '/v1': { target: gateway, changeOrigin: true },
      '/login': { target: gateway, changeOrigin: true },
      '/logout': { target: gateway, changeOrigin: true },
      '/ws': { target: gateway, changeOrigin: true, ws: true },
    },
  },
})
