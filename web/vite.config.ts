import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

declare const process: { env: { [name: string]: string | undefined } };

// In development the API is another process: CONDOR_URL=http://127.0.0.1:8421 npm run dev
const api = process.env.CONDOR_URL ?? "http://127.0.0.1:8421";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../src/condor/console/built",
    emptyOutDir: true,
    // A data: URL would be another origin to the content security policy.
    assetsInlineLimit: 0,
    // The preload helper writes link elements; browsers that run the console need none.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: "es2022",
  },
  server: { proxy: { "/api": { target: api, changeOrigin: true, headers: { origin: api } } } },
});
