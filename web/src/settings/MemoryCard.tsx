// Whether earlier conversations are searched for answers: each person's own choice.
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { api, unwrap } from "../api/client";
import { queryClient } from "../api/queries";
import { t } from "../strings";
import { Switch } from "../ui/Switch";
import { notifyError } from "../ui/Toasts";
import { memoryQuery } from "./queries";
import { Section } from "./Section";

export function MemoryCard(): ReactNode {
  const memory = useQuery(memoryQuery());
  const [isChanging, setChanging] = useState(false);
  if (!memory.data) return null;
  const change = async (enabled: boolean): Promise<void> => {
    setChanging(true);
    try {
      queryClient.setQueryData(memoryQuery().queryKey, await unwrap(api.PUT("/memory", { body: { enabled } })));
    } catch (error) {
      notifyError(error);
    } finally {
      setChanging(false);
    }
  };
  return (
    <Section title={t.memoryTitle} text={t.memoryText}>
      <Switch
        label={t.memorySwitch}
        checked={memory.data.enabled}
        disabled={isChanging}
        onChange={(enabled) => void change(enabled)}
      />
    </Section>
  );
}
