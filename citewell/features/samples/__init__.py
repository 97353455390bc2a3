"""Feature: samples."""
